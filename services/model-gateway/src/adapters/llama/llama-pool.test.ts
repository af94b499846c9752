import { createServer, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Delta } from "../../domain/generation.ts";
import { ask, generationOf, said, textIn } from "../suite/generations.ts";
import { frame } from "../suite/protocols.ts";
import { beginStream, readFixture } from "../suite/replay-server.ts";
import { LlamaProvider } from "./llama-provider.ts";

/** A llama-server that answers when it is told to. */
interface Held {
  readonly url: string;
  readonly server: Server;
  readonly open: ServerResponse[];
  readonly arrived: () => Promise<void>;
  /** How it answers when it is asked what it is, how often it was, and who was left without an answer. */
  health: "well" | "failing" | "silent";
  asked: number;
  readonly left: ServerResponse[];
}

const started: Held[] = [];
afterEach(() => {
  for (const { server } of started.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  vi.restoreAllMocks();
});

async function startHeld(slots: number): Promise<Held> {
  const open: ServerResponse[] = [];
  const fixed: Record<string, unknown> = { "/health": {}, "/props": { total_slots: slots }, "/v1/models": { data: [{ id: "m" }] } };
  const server = createServer((request, response) => {
    const body = fixed[request.url ?? ""];
    if (body !== undefined) return tell(held, request.url!, body, response);
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
    health: "well",
    asked: 0,
    left: [],
  };
  started.push(held);
  return held;
}

function tell(held: Held, path: string, body: unknown, response: ServerResponse): void {
  if (path === "/health") held.asked++;
  if (held.health === "silent") held.left.push(response);
  else response.writeHead(held.health === "well" ? 200 : 500).end(JSON.stringify(body));
}

/** What a server said of itself is no longer believed without asking again. */
function forget(): void {
  const later = Date.now() + 10_000;
  vi.spyOn(Date, "now").mockReturnValue(later);
}

function answer(response: ServerResponse | undefined): void {
  beginStream(response!).end(`${readFixture("openai-chat", "text").map(frame).join("")}data: [DONE]\n\n`);
}

const generation = generationOf("m", [said("user", "Hello?")]);
const never = new AbortController().signal;

/** What the provider makes of a request that comes to this server, which has had none before. */
async function answerOf(held: Held, provider: LlamaProvider): Promise<string> {
  const arrived = held.arrived();
  const asked = ask(provider, generation);
  await arrived;
  answer(held.open[0]);
  return textIn(await asked);
}

describe("the pool", () => {
  it("never gives a server more than its slots, and lets the rest wait in order", async () => {
    const held = await startHeld(1);
    const provider = new LlamaProvider({ urls: [held.url] });
    const ended: number[] = [];
    const first = held.arrived();
    const asked = [0, 1, 2].map((number) => ask(provider, generation).then((deltas) => (ended.push(number), deltas)));
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
    const asked = [ask(provider, generation), ask(provider, generation)];
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
    const working = ask(provider, generation);
    await first;
    const cancelled = new AbortController();
    const waiting = ask(provider, generation, cancelled.signal);
    cancelled.abort();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    answer(held.open[0]);
    await working;
    const next = held.arrived();
    const last = ask(provider, generation);
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
    await expect(ask(provider, generation)).rejects.toMatchObject({ class: "transient" });
    expect(await answerOf(alive, provider)).toBe("Hello, world.");
  });

  it("lets it be heard that a request waits for its turn", async () => {
    const held = await startHeld(1);
    const provider = new LlamaProvider({ urls: [held.url] });
    const first = held.arrived();
    const working = ask(provider, generation);
    await first;
    const heard = Promise.withResolvers<void>();
    const waiting = ask(provider, generation, never, heard.resolve);
    await heard.promise;
    const next = held.arrived();
    answer(held.open[0]);
    await next;
    answer(held.open[1]);
    await working;
    expect(textIn(await waiting)).toBe("Hello, world.");
  });

  it("asks a server that failed again only after a while", async () => {
    const held = await startHeld(1);
    held.health = "failing";
    const provider = new LlamaProvider({ urls: [held.url] });
    for (let time = 0; time < 3; time++) await expect(provider.list()).rejects.toMatchObject({ reason: "provider_failing" });
    expect(held.asked).toBe(1);
    held.health = "well";
    forget();
    expect(await provider.list()).toHaveLength(1);
  });

  it("lets a request be made again for which no server said in time that it is well: the machine may be busy", async () => {
    const held = await startHeld(1);
    held.health = "silent";
    const provider = new LlamaProvider({ urls: [held.url] });
    await expect(ask(provider, generation)).rejects.toMatchObject({
      reason: "server_silent",
      isRetried: true,
      message: expect.stringContaining(held.url),
    });
    held.health = "well";
    forget();
    expect(await answerOf(held, provider)).toBe("Hello, world.");
  });

  it("knows a model although its server did not say in time that it is well the first time", async () => {
    const held = await startHeld(1);
    held.health = "silent";
    const provider = new LlamaProvider({ urls: [held.url] });
    await expect(provider.list()).rejects.toMatchObject({ reason: "server_silent" });
    const described = provider.describe("m");
    held.health = "well";
    expect(await described).toMatchObject({ name: "m" });
  });

  it("waits for no server that failed before where another one serves the model", async () => {
    const [failing, alive] = [await startHeld(4), await startHeld(1)];
    failing.health = "failing";
    const provider = new LlamaProvider({ urls: [failing.url, alive.url] });
    await provider.list();
    failing.health = "silent";
    forget();
    expect(await provider.list()).toHaveLength(1);
    expect(await answerOf(alive, provider)).toBe("Hello, world.");
    await expect.poll(() => failing.left.length).toBeGreaterThan(0);
    expect(failing.left.some(({ destroyed }) => destroyed)).toBe(false);
  });

  it("gives a waiting request to a server that is back", async () => {
    const [failing, busy] = [await startHeld(1), await startHeld(1)];
    failing.health = "failing";
    const provider = new LlamaProvider({ urls: [failing.url, busy.url] });
    const first = busy.arrived();
    const working = ask(provider, generation);
    await first;
    const waiting = ask(provider, generation);
    failing.health = "well";
    const next = failing.arrived();
    forget();
    await next;
    answer(failing.open[0]);
    expect(textIn(await waiting)).toBe("Hello, world.");
    expect(busy.open.length).toBe(1);
    answer(busy.open[0]);
    await working;
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
