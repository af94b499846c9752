import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { startLlamaServer, type LlamaServer } from "@hlvm/testing/llama-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkspace, linesOf } from "../e2e/test-mesh.ts";
import { startDoorMesh, type DoorMesh } from "../model-doors/door-mesh.ts";
import { doorClients, type DoorClient } from "./door-clients.ts";

const DOORS = ["chat", "responses", "messages"] as const;
const TOKENS = 400;
/** Slow enough for a gateway to be killed in the middle of its answers. */
const attempt = await startLlamaServer(1, { size: { width: 512, blocks: 8 }, flags: ["--ignore-eos"] });
const reason = "unavailable" in attempt ? ` (skipped: ${attempt.unavailable})` : "";

/** A hosted provider that never comes to the end of an answer, but for those that it is let end. */
const hostedCalls: string[] = [];
let hostedEnds = false;
const hosted = createServer((request, response) => {
  if (request.url === "/v1/models") return void response.setHeader("content-type", "application/json").end('{"data":[]}');
  hostedCalls.push(`${request.method} ${request.url}`);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = { id: "1", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: "word " }, finish_reason: null }] };
  if (hostedEnds) {
    const last = { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
    return void response.end(`data: ${JSON.stringify(chunk)}\n\ndata: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`);
  }
  const timer = setInterval(() => response.write(`data: ${JSON.stringify(chunk)}\n\n`), 20);
  response.once("close", () => clearInterval(timer));
});

describe.skipIf(reason !== "")(`a part of the mesh is killed while programs read answers through the doors${reason}`, () => {
  const llama = attempt as LlamaServer;
  let mesh: DoorMesh;
  let tokenId: string;
  let clients: Record<(typeof DOORS)[number], DoorClient>;

  beforeAll(async () => {
    await once(hosted.listen(0, "127.0.0.1"), "listening");
    const compatible = `http://127.0.0.1:${(hosted.address() as AddressInfo).port}/v1`;
    mesh = await startDoorMesh({ HLVM_LLAMA_URLS: llama.url, HLVM_OPENAI_COMPATIBLE_URL: compatible });
    const { secret, id } = await mesh.token();
    tokenId = id;
    clients = doorClients(mesh.url, secret);
  });
  afterAll(async () => {
    await mesh?.stop();
    await llama.stop();
    hosted.closeAllConnections();
    hosted.close();
  });

  function kill(part: string): void {
    process.kill(readMeshState(mesh.directory)!.services.find(({ name }) => name === part)!.pid!, "SIGKILL");
  }

  const busySlots = async (): Promise<number> => {
    const slots = (await (await fetch(`${llama.url}/slots`)).json()) as readonly { readonly is_processing: boolean }[];
    return slots.filter((slot) => slot.is_processing).length;
  };
  const callsOnRecord = async (count: number): Promise<unknown[]> =>
    (await mesh.rows("audit", "query", "--kind", "model_called", "--limit", String(count))).map(({ outcome }) => outcome);

  it.each(DOORS)(
    "%s: what a llama-server gives goes on at the last piece, once and whole",
    async (door) => {
      const asked = { model: "llama/random", text: `Go on, ${door}.`, tokens: TOKENS };
      const whole = await clients[door].stream(asked, () => undefined);
      expect(whole).toMatchObject({ hasEnded: true, outputTokens: TOKENS });
      let pieces = 0;
      const answer = await clients[door].stream(asked, () => {
        if (++pieces === 20) kill("model-gateway");
      });
      expect(answer).toEqual(whole);
      expect(await callsOnRecord(2)).toEqual(["succeeded", "succeeded"]);
      const spent = (await mesh.rows("cost", "--by", "token")).find(({ token }) => token === tokenId);
      expect(spent).toMatchObject({ estimated_calls: 0 });
      await expect.poll(busySlots).toBe(0);
    },
    90_000,
  );

  it("an answer that is asked for whole comes whole, and one that waited for its turn too", async () => {
    const asked = { model: "llama/random", text: "Whole.", tokens: TOKENS };
    const one = clients.chat.whole(asked);
    await expect.poll(busySlots).toBe(1);
    const waiting = clients.messages.stream({ ...asked, tokens: 20 }, () => undefined);
    await sleep(100);
    kill("model-gateway");
    expect(await one).toMatchObject({ hasEnded: true, outputTokens: TOKENS });
    expect(await waiting).toMatchObject({ hasEnded: true, outputTokens: 20 });
    await expect.poll(busySlots).toBe(0);
  });

  it.each(DOORS)("%s: what a hosted provider was giving ends in an error of the protocol, and is not asked for again", async (door) => {
    hostedCalls.length = 0;
    let pieces = 0;
    const asked = { model: "openai-compatible/x", text: "Hello", tokens: 100_000 };
    const answer = await clients[door].stream(asked, () => {
      if (++pieces === 20) kill("model-gateway");
    });
    expect(answer).toMatchObject({ hasEnded: false, error: expect.stringMatching(/connection|again/i) });
    expect(answer.text).toMatch(/^(word ){20,}$/);
    expect(hostedCalls).toEqual(["POST /v1/chat/completions"]);
    expect(await callsOnRecord(1)).toEqual(["failed"]);
  });

  it("a run asks a hosted provider again, and is not told of what the next gateway could not find there", async () => {
    hostedCalls.length = 0;
    const workspace = await createWorkspace({ "README.md": "# Loom\n" });
    const words = ["ask", "--json", "--model", "openai-compatible/x", "Hello"];
    const ended = await mesh.hlvm(words, {
      cwd: workspace,
      onLine: (line) => {
        if (hostedEnds || !line.includes('"type":"token"')) return;
        hostedEnds = true;
        kill("model-gateway");
      },
    });
    rmSync(workspace, { recursive: true });
    expect(linesOf(ended).at(-1)).toMatchObject({ type: "final", stop_reason: "completed", text: "word " });
    expect(hostedCalls).toEqual(["POST /v1/chat/completions", "POST /v1/chat/completions"]);
  });

  it("ends in an error of the protocol where its orchestrator is killed, and its slot is free again", async () => {
    let pieces = 0;
    const answer = await clients.messages.stream({ model: "llama/random", text: "Go on.", tokens: 20_000 }, () => {
      if (++pieces === 20) kill("orchestrator");
    });
    expect(answer).toMatchObject({ hasEnded: false, error: expect.stringContaining("overloaded_error") });
    await expect.poll(busySlots, { timeout: 60_000 }).toBe(0);
    // By what its process had written down.
    await expect.poll(() => callsOnRecord(1), { timeout: 60_000, interval: 1_000 }).toEqual(["unknown"]);
  }, 120_000);
});
