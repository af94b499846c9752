import { createServer, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { Delta } from "../../domain/generation.ts";
import { collect, generationOf, said, textIn } from "../suite/generations.ts";
import { frame } from "../suite/protocols.ts";
import { beginStream, readFixture } from "../suite/replay-server.ts";
import { LlamaProvider } from "./llama-provider.ts";

/** A llama-server that answers when it is told to. */
interface Held {
  readonly url: string;
  readonly server: Server;
  readonly open: ServerResponse[];
  readonly arrived: () => Promise<void>;
}

const started: Held[] = [];
afterEach(() => {
  for (const { server } of started.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function startHeld(slots: number): Promise<Held> {
  const open: ServerResponse[] = [];
  const fixed: Record<string, unknown> = { "/props": { total_slots: slots }, "/v1/models": { data: [{ id: "m" }] } };
  const server = createServer((request, response) => {
    const body = fixed[request.url ?? ""];
    if (body !== undefined) return void response.end(JSON.stringify(body));
    open.push(response);
    server.emit("held");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const held: Held = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    open,
    arrived: async () => void (await once(server, "held")),
  };
  started.push(held);
  return held;
}

function answer(response: ServerResponse | undefined): void {
  beginStream(response!).end(`${readFixture("openai-chat", "text").map(frame).join("")}data: [DONE]\n\n`);
}

const generation = generationOf("m", [said("user", "Hello?")]);
const patient = new AbortController().signal;

describe("the pool", () => {
  it("never gives a server more than its slots, and lets the rest wait in order", async () => {
    const held = await startHeld(1);
    const provider = new LlamaProvider({ urls: [held.url] });
    const ended: number[] = [];
    const first = held.arrived();
    const asked = [0, 1, 2].map((number) => collect(provider.generate(generation, patient)).then((deltas) => (ended.push(number), deltas)));
    await first;
    // Whatever else was sent has arrived before these: they came later, over connections that were made later.
    for (let later = 0; later < 3; later++) await Promise.all([1, 2, 3].map(async () => (await fetch(`${held.url}/props`)).text()));
    for (let number = 0; number < 3; number++) {
      expect(held.open.length).toBe(number + 1);
      const next = number < 2 ? held.arrived() : Promise.resolve();
      answer(held.open[number]);
      expect(textIn((await asked[number]) as Delta[])).toBe("Hello, world.");
      await next;
    }
    expect(ended).toEqual([0, 1, 2]);
  });

  it("takes the least loaded server", async () => {
    const [one, other] = [await startHeld(2), await startHeld(2)];
    const provider = new LlamaProvider({ urls: [one.url, other.url] });
    const both = Promise.all([one.arrived(), other.arrived()]);
    const asked = [collect(provider.generate(generation, patient)), collect(provider.generate(generation, patient))];
    await both;
    expect([one.open.length, other.open.length]).toEqual([1, 1]);
    answer(one.open[0]);
    answer(other.open[0]);
    await Promise.all(asked);
  });

  it("lets a caller that goes away leave the queue", async () => {
    const held = await startHeld(1);
    const provider = new LlamaProvider({ urls: [held.url] });
    const first = held.arrived();
    const working = collect(provider.generate(generation, patient));
    await first;
    const leaving = new AbortController();
    const waiting = collect(provider.generate(generation, leaving.signal));
    leaving.abort();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    answer(held.open[0]);
    await working;
    const next = held.arrived();
    const last = collect(provider.generate(generation, patient));
    await next;
    answer(held.open[1]);
    expect(textIn(await last)).toBe("Hello, world.");
  });

  it("goes on with the other servers when one is gone", async () => {
    const [gone, alive] = [await startHeld(4), await startHeld(1)];
    const provider = new LlamaProvider({ urls: [gone.url, alive.url] });
    await provider.list();
    gone.server.closeAllConnections();
    gone.server.close();
    await expect(collect(provider.generate(generation, patient))).rejects.toMatchObject({ class: "transient" });
    const next = alive.arrived();
    const asked = collect(provider.generate(generation, patient));
    await next;
    answer(alive.open[0]);
    expect(textIn(await asked)).toBe("Hello, world.");
  });

  it("says that no server can be reached", async () => {
    const held = await startHeld(1);
    held.server.close();
    const provider = new LlamaProvider({ urls: [held.url] });
    await expect(provider.list()).rejects.toMatchObject({
      reason: "provider_unreachable",
      advice: expect.stringContaining("HLVM_LLAMA_URLS"),
    });
  });
});
