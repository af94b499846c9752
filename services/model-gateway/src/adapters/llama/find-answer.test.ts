import type { IncomingMessage, ServerResponse } from "node:http";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Delta } from "../../domain/generation.ts";
import { answerChat, FakeLlama } from "../../testing/fake-llama.ts";
import { LlamaProvider } from "./llama-provider.ts";

const NAME = "hlvm-ours::1";
const LOOKUP = "/v1/streams/lookup";
const never = new AbortController().signal;

/** A server with this much of the answer, undefined for none of it, that breaks off the first lookups. */
async function serverWith(bytes: number | undefined, brokenOff = 0): Promise<FakeLlama & { lookups: number; brokenOff: number }> {
  const fake = Object.assign(await FakeLlama.start(1), { lookups: 0, brokenOff });
  fake.onOther = (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === LOOKUP) {
      if (++fake.lookups <= fake.brokenOff) return void request.socket.destroy();
      return void response.end(JSON.stringify(bytes === undefined ? [] : [{ conversation_id: NAME, is_done: true, total_bytes: bytes }]));
    }
    if (request.url !== `/v1/stream?conv_id=${encodeURIComponent(NAME)}&from=0`) return void response.writeHead(404).end("{}");
    answerChat({ body: { model: "m", messages: [] }, headers: {}, response });
  };
  return fake;
}

const providerOf = (...fakes: readonly FakeLlama[]): LlamaProvider =>
  new LlamaProvider({ urls: fakes.map(({ url }) => url), keeping: { prefix: "hlvm-ours", graceMilliseconds: 60_000 } });

async function textOf(deltas: AsyncIterable<Delta>): Promise<string> {
  let text = "";
  for await (const delta of deltas) if (delta.kind === "text") text += delta.text;
  return text;
}

const resume = (provider: LlamaProvider, heard = (): void => undefined): Promise<string> =>
  textOf(provider.resume({ model: "m", answerName: NAME }, never, heard));

afterEach(() => void vi.restoreAllMocks());

describe("an answer whose gateway is gone", () => {
  it("is found at the server that has most of it", async () => {
    const [one, other] = [await serverWith(10), await serverWith(1_000)];
    one.onOther = (request, response) =>
      void response.end(JSON.stringify([{ conversation_id: NAME, is_done: false, total_bytes: request.url === LOOKUP ? 10 : 0 }]));
    expect(await resume(providerOf(one, other))).toBe("Hello, world.");
  });

  it.each([1, 4, 10])("is found where its server broke off the connection %i times when it was asked for it", async (times) => {
    const server = await serverWith(1_000, times);
    expect(await resume(providerOf(await serverWith(undefined), server))).toBe("Hello, world.");
    expect(server.lookups).toBeGreaterThan(times);
  });

  it("is not looked for any longer where every server says that it has none, or knows of no such thing, or is not there", async () => {
    const [ignorant, gone, server] = [await FakeLlama.start(1), await FakeLlama.start(1), await serverWith(undefined)];
    const provider = providerOf(server, ignorant, gone);
    gone.stop();
    await expect(resume(provider)).rejects.toMatchObject({ reason: "resume_not_possible", message: /no llama-server has it/ });
    // When it was asked what it is, and then for the answer.
    expect(server.lookups).toBe(2);
  });

  it("is not looked for for ever at a server that does not say whether it has it", async () => {
    const provider = providerOf(await serverWith(1_000, Number.POSITIVE_INFINITY));
    let later = 0;
    const now = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => now() + later);
    await expect(resume(provider, () => void (later += 3_000))).rejects.toMatchObject({
      reason: "resume_not_possible",
      message: expect.stringContaining("does not answer"),
    });
    expect(later).toBe(9_000);
  });
});

it("an answer is named to a server that broke off a connection after it had said that it keeps answers", async () => {
  const server = await serverWith(undefined);
  const provider = providerOf(server);
  const [instance] = await provider.pool.instances();
  server.brokenOff = Number.POSITIVE_INFINITY;
  server.onChat = answerChat;
  instance!.doubt();
  const generation = { model: "m", messages: [], tools: [], maximumOutputTokens: 10, temperature: 0, answerName: NAME };
  expect(await textOf(provider.generate(generation, never, () => undefined))).toBe("Hello, world.");
  expect(server.chats[0]!.headers["x-conversation-id"]).toBe(NAME);
});
