import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { generate, type Retry } from "../../domain/generate.ts";
import type { Delta, AnswerEvent } from "../../domain/generation.ts";
import type { Provider } from "../../domain/provider.ts";
import { ask, collect, generationOf, partsOf, said, targetOf, textIn } from "./generations.ts";
import { frame, protocols } from "./protocols.ts";
import { beginStream, errorReply, readFixture, ReplayServer, type Reply } from "./replay-server.ts";

const SILENCE_MILLISECONDS = 900;
const MEGABYTE = 1024 * 1024;

function* endlessLine(): Generator<string> {
  yield "data: ";
  for (;;) yield "x".repeat(MEGABYTE);
}

describe.each(protocols)("$provider", (protocol) => {
  const server = new ReplayServer(protocol.fixed);
  const never = new AbortController().signal;
  const conversation = [said("system", "Prefix."), said("system", "# Your Memory"), said("user", "Hello?")];
  const generation = generationOf(protocol.model, conversation);
  let url: string;
  let provider: Provider;

  beforeAll(async () => {
    url = await server.start();
    provider = protocol.create(url, SILENCE_MILLISECONDS);
  });
  afterAll(() => server.stop());
  // No jitter: retries come at once.
  beforeEach(() => vi.spyOn(Math, "random").mockReturnValue(0));
  afterEach(() => vi.restoreAllMocks());

  const whole =
    (name: string): Reply =>
    (response) =>
      void beginStream(response).end(readFixture(protocol.folder, name).map(frame).join("") + protocol.closing);
  const askOnce = (): Promise<Delta[]> => ask(provider, generation);
  const retries: Retry[] = [];
  const run = (seen: AnswerEvent[] = [], signal = never, subject = provider): Promise<AnswerEvent[]> => {
    retries.length = 0;
    return collect(
      generate(targetOf(protocol.provider, subject, protocol.model), generation, {
        signal,
        remainingMilliseconds: undefined,
        onRetry: (retry) => retries.push(retry),
      }),
      seen,
    );
  };

  it("counts every token once", async () => {
    server.play(whole("text"));
    expect((await askOnce()).at(-2)).toEqual({
      kind: "usage",
      input: 10,
      output: 5,
      cacheRead: 90,
      cacheWrite: protocol.cacheWrite,
      reasoning: protocol.reasoning,
    });
  });

  it("uses its connections again, but those of a llama-server, which ends them behind a stream", async () => {
    const isShared = protocol.provider !== "llama";
    const connections = new Set<number | undefined>();
    server.play((response) => {
      connections.add(response.socket?.remotePort);
      return whole("text")(response);
    });
    for (let request = 0; request < 10; request++) await askOnce();
    // A request that follows at once may find the last one's connection not yet free.
    expect(connections.size <= 2).toBe(isShared);
    expect(connections.size === 10).toBe(!isShared);
  });

  it("sends its thinking back to the same model, and to no other", async () => {
    server.play(whole("thinking"));
    const first = await askOnce();
    const next = [...conversation, partsOf(first), said("user", "And now?")];
    server.play(whole("text"));
    await ask(provider, generationOf(protocol.model, next));
    expect(server.requests[0]?.body).toContain("Two and two is four.");
    // Chat completions have no seal: there the text alone goes back.
    expect(server.requests[0]?.body).toContain(protocol.folder === "openai-chat" ? '"reasoning_content"' : "c2VhbA==");
    const sealed = partsOf(first).parts.map((part) =>
      part.kind === "thinking" ? { ...part, providerData: new TextEncoder().encode('{"provider":"other"}') } : part,
    );
    server.play(whole("text"));
    await ask(provider, generationOf(protocol.model, [...conversation, { role: "assistant", parts: sealed }, said("user", "?")]));
    expect(server.requests[0]?.body).not.toContain("Two and two is four.");
  });

  it("drops a call that was cut off for length", async () => {
    server.play(whole("length-in-call"));
    const deltas = await run();
    expect(deltas.some(({ kind }) => kind === "tool-call")).toBe(false);
    expect(deltas.at(-1)).toMatchObject({ kind: "finish", reason: "length" });
  });

  it("is heard of with every piece, also with those that no delta comes of: arguments and pings", async () => {
    const lines = readFixture(protocol.folder, "tool-calls").map(frame);
    let heard = 0;
    server.play(async (response) => {
      beginStream(response);
      for (const [position, piece] of ["", ": a ping\n\n", ...lines].entries()) {
        response.write(piece);
        await vi.waitUntil(() => heard > position, { interval: 1, timeout: 10_000 });
      }
      response.end(protocol.closing);
    });
    await ask(provider, generation, never, () => heard++);
    expect(heard).toBeGreaterThan(lines.length);
  });

  describe("with a fault", () => {
    it("refused", async () => {
      const closed = new ReplayServer();
      const nowhere = await closed.start();
      await closed.stop();
      await expect(run([], never, protocol.create(nowhere))).rejects.toMatchObject({
        class: "transient",
        reason: "provider_unreachable",
      });
      expect(retries.length).toBe(2);
    });

    it("reset before headers, then an answer", async () => {
      server.play((response) => void response.destroy(), whole("text"));
      expect(textIn(await run())).toBe("Hello, world.");
      // On a connection that was used before, it is sent again without a word.
      expect(server.requests.length).toBe(2);
    });

    it("reset after headers", async () => {
      server.play((response) => void beginStream(response).write(":\n\n", () => response.destroy()));
      await expect(run()).rejects.toMatchObject({ class: "transient" });
      expect(server.requests.length).toBe(3);
    });

    it("429 without retry-after", async () => {
      server.play(errorReply(429, protocol.errorBody("rate_limit_error", null, "Slow down")));
      await expect(run()).rejects.toMatchObject({ class: "rate_limit", code: "resource_exhausted" });
      expect(server.requests.length).toBe(3);
    });

    it("429 with retry-after", async () => {
      server.play(errorReply(429, protocol.errorBody("rate_limit_error", null, "Slow down"), { "retry-after": "0.05" }), whole("text"));
      expect(textIn(await run())).toBe("Hello, world.");
      expect(retries).toMatchObject([{ waitMilliseconds: 50 }]);
    });

    it("429 that asks for more patience than anybody has", async () => {
      server.play(errorReply(429, protocol.errorBody("rate_limit_error", null, "Slow down"), { "retry-after": "3600" }));
      await expect(run()).rejects.toMatchObject({ class: "rate_limit", retryAfterMilliseconds: 3_600_000 });
      expect(server.requests.length).toBe(1);
    });

    it("5xx, then an answer", async () => {
      server.play(errorReply(503, protocol.errorBody("api_error", null, "Not now")), whole("text"));
      expect(textIn(await run())).toBe("Hello, world.");
    });

    it("a key that it refuses", async () => {
      server.play(errorReply(401, protocol.errorBody("authentication_error", null, "invalid x-api-key")));
      await expect(run()).rejects.toMatchObject({
        class: "permanent",
        reason: "key_refused",
        code: "failed_precondition",
        message: `${protocol.provider} refused the key: invalid x-api-key`,
        advice: expect.stringMatching(/^Set /),
      });
      expect(server.requests.length).toBe(1);
    });

    it("a model that it does not know", async () => {
      server.play(errorReply(404, protocol.errorBody("not_found_error", null, "model: nope")));
      await expect(run()).rejects.toMatchObject({ class: "permanent", reason: "model_not_found", code: "not_found" });
    });

    it("too long a prompt", async () => {
      const { type, code, message } = protocol.overflow;
      server.play(errorReply(400, protocol.errorBody(type, code, message)));
      await expect(run()).rejects.toMatchObject({ class: "context_overflow" });
      expect(server.requests.length).toBe(1);
    });

    it("hang before the first byte", async () => {
      server.play(() => undefined);
      await expect(run()).rejects.toMatchObject({ class: "timeout", reason: "model_silent" });
      expect(server.requests.length).toBe(1);
    });

    it("hang in mid-stream", async () => {
      server.play((response) => void beginStream(response).write(readFixture(protocol.folder, "text").slice(0, -2).map(frame).join("")));
      const seen: AnswerEvent[] = [];
      await expect(run(seen)).rejects.toMatchObject({ class: "timeout", reason: "model_silent" });
      expect(textIn(seen)).toMatch(/^Hello/);
    });

    it("slow drip that never falls silent", async () => {
      server.play(async (response) => {
        beginStream(response);
        for (const line of readFixture(protocol.folder, "text")) {
          response.write(frame(line));
          await sleep(SILENCE_MILLISECONDS / 3);
        }
        response.end(protocol.closing);
      });
      expect(textIn(await run())).toBe("Hello, world.");
    });

    it("cut in mid-stream", async () => {
      server.play((response) => void beginStream(response).end(readFixture(protocol.folder, "text").slice(0, -2).map(frame).join("")));
      const seen: AnswerEvent[] = [];
      await expect(run(seen)).rejects.toMatchObject({ class: "transient", reason: "stream_cut" });
      expect(textIn(seen)).toMatch(/^Hello/);
      expect(seen.some(({ kind }) => kind === "finish")).toBe(false);
      expect(server.requests.length).toBe(1);
    });

    it("cut inside a tool call", async () => {
      const lines = readFixture(protocol.folder, "tool-calls");
      const inside = lines.findIndex((line) => /th\\": \\"a|\\"path|"\{\\"pat|th\\"/.test(line)) + 1;
      server.play((response) => void beginStream(response).end(lines.slice(0, inside).map(frame).join("")));
      const seen: AnswerEvent[] = [];
      await expect(run(seen)).rejects.toMatchObject({ class: "transient", reason: "stream_cut" });
      expect(seen.some(({ kind }) => kind === "tool-call")).toBe(false);
    });

    it("error event first, then an answer", async () => {
      server.play(whole("error-first"), whole("text"));
      expect(textIn(await run())).toBe("Hello, world.");
      expect(retries).toMatchObject([{ error: { class: "transient", reason: "provider_failing" } }]);
    });

    it("error event in mid-stream is not tried again", async () => {
      server.play(whole("error-in-middle"), whole("text"));
      const seen: AnswerEvent[] = [];
      await expect(run(seen)).rejects.toMatchObject({ class: "transient" });
      expect(textIn(seen)).toBe("Hello");
      expect(server.requests.length).toBe(1);
    });

    it("malformed SSE", async () => {
      const type =
        protocol.folder === "openai-chat" ? "" : `event: ${protocol.folder === "anthropic" ? "message_start" : "response.created"}\n`;
      server.play((response) => void beginStream(response).end(`${type}data: {"type": oops\n\n`));
      await expect(run()).rejects.toMatchObject({ class: "transient", reason: "stream_malformed" });
    });

    it("a piece of an answer that is longer than a message may be", async () => {
      const lines = readFixture(protocol.folder, "text");
      const long = lines.map((line) => frame(line.replace("Hello", "word ".repeat(MEGABYTE))));
      server.play((response) => void beginStream(response).end(long.join("") + protocol.closing));
      const seen: AnswerEvent[] = [];
      await expect(run(seen)).rejects.toMatchObject({ class: "permanent", advice: expect.stringMatching(/./) });
      expect(textIn(seen).length).toBeLessThanOrEqual(4 * MEGABYTE);
    });

    it("a line that never ends", async () => {
      const cut = Promise.withResolvers<unknown>();
      server.play((response) => void pipeline(Readable.from(endlessLine()), beginStream(response)).catch(cut.resolve));
      await expect(run()).rejects.toMatchObject({ class: "permanent", advice: expect.stringMatching(/./) });
      await cut.promise;
      expect(server.requests.length).toBe(1);
    });

    it("empty answer", async () => {
      server.play(whole("empty"));
      await expect(run()).rejects.toMatchObject({ class: "transient", reason: "empty_answer" });
      expect(server.requests.length).toBe(3);
    });

    it("a redirect: its key goes to no other server", async () => {
      const elsewhere = new ReplayServer();
      const there = await elsewhere.start();
      elsewhere.play(whole("text"));
      server.play((response) => void response.writeHead(307, { location: `${there}${protocol.path}` }).end());
      await expect(run()).rejects.toMatchObject({ class: "permanent", reason: "redirected" });
      expect([server.requests.length, elsewhere.requests.length]).toEqual([1, 0]);
      await elsewhere.stop();
    });

    it("wrong content type", async () => {
      server.play((response) => void response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in</html>"));
      await expect(run()).rejects.toMatchObject({ class: "permanent", reason: "not_a_stream" });
      expect(server.requests.length).toBe(1);
    });

    it("client gone: the connection is closed", async () => {
      server.play((response) => void beginStream(response).write(readFixture(protocol.folder, "text").slice(0, -2).map(frame).join("")));
      const cancelled = new AbortController();
      const seen: AnswerEvent[] = [];
      const ended = run(seen, cancelled.signal).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      await vi.waitUntil(() => textIn(seen).includes("Hello"), { interval: 5 });
      cancelled.abort();
      await server.requests[0]?.gone;
      expect(await ended).toMatchObject({ class: "abort" });
    });
  });
});
