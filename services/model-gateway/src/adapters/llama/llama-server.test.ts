import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startLlamaServer, type LlamaServer } from "@hlvm/testing/llama-server";
import { generate } from "../../domain/generate.ts";
import type { Generation, Message, AnswerEvent } from "../../domain/generation.ts";
import { ask, askAgain, generationOf, partsOf, said, targetOf, textIn, tools } from "../suite/generations.ts";
import { frame } from "../suite/protocols.ts";
import { beginStream, readFixture } from "../suite/replay-server.ts";
import { LlamaProvider } from "./llama-provider.ts";

const attempt = await startLlamaServer(2);
const reason = "unavailable" in attempt ? ` (skipped: ${attempt.unavailable})` : "";

/** The same server with a model that calls tools, which random weights do not: the first answer is the suite's. */
async function startCalling(url: string): Promise<{ readonly url: string; readonly warmed: Promise<number>; readonly close: () => void }> {
  const warmed = Promise.withResolvers<number>();
  let isFirst = true;
  const proxy = createServer((request, response) => {
    void (async () => {
      const body = request.method === "POST" ? Buffer.concat(await request.toArray()) : undefined;
      if (body !== undefined && isFirst) {
        isFirst = false;
        return beginStream(response).end(`${readFixture("openai-chat", "tool-calls").map(frame).join("")}data: [DONE]\n\n`);
      }
      const answer = await forwarded(`${url}${request.url}`, request.method, body);
      const text = await answer.text();
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" }).end(text);
      if (body?.includes('"n_predict":0') === true)
        warmed.resolve((JSON.parse(text) as { usage: { completion_tokens: number } }).usage.completion_tokens);
    })();
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, warmed: warmed.promise, close: () => proxy.close() };
}

/** Once more where the server has just ended the connection, as it does now and then with one that it has been asked on often. */
function forwarded(url: string, method: string | undefined, body: Buffer<ArrayBuffer> | undefined): Promise<Response> {
  const ask = (): Promise<Response> => fetch(url, { ...(method && { method }), ...(body && { body }) });
  return ask().catch(ask);
}

/** The same server as one from before it could count: that path alone is not there. */
async function startOlder(url: string): Promise<{ readonly url: string; readonly close: () => void }> {
  const proxy = createServer((request, response) => {
    const path = request.url ?? "";
    if (path.endsWith("/input_tokens")) return void response.writeHead(404).end('{"error":{"code":404,"message":"File Not Found"}}');
    void (async () => {
      const body = request.method === "POST" ? Buffer.concat(await request.toArray()) : undefined;
      response.end(await (await forwarded(`${url}${path}`, request.method, body)).text());
    })();
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, close: () => proxy.close() };
}

interface Slot {
  readonly is_processing: boolean;
}

describe.skipIf(reason !== "")(`a real llama-server with random weights${reason}`, () => {
  const server = attempt as LlamaServer;
  /** The likeliest token each time: chance now and then writes what the server takes for a broken call, which ends its answer. */
  const greedy = (messages: readonly Message[]): Generation => ({ ...generationOf("random", messages), temperature: 0 });
  let provider: LlamaProvider;

  beforeAll(() => {
    provider = new LlamaProvider({ urls: [server.url] });
  });
  afterAll(() => server.stop());

  const busySlots = async (): Promise<number> => {
    const slots = (await (await fetch(`${server.url}/slots`)).json()) as readonly Slot[];
    return slots.filter((slot) => slot.is_processing).length;
  };

  it("is described by what it says of itself", async () => {
    expect(await provider.list()).toEqual([
      { name: "random", tier: "weak", capability: "chat", contextWindow: 32_768, takesImages: false },
    ]);
  });

  it("streams an answer with its usage, tools offered and all", async () => {
    const generation = {
      ...greedy([said("system", "You help."), said("system", "# Your Memory"), said("user", "Hello?")]),
      maximumOutputTokens: 12,
    };
    expect(generation.tools).toBe(tools);
    const deltas = await ask(provider, generation);
    expect(textIn(deltas)).not.toBe("");
    expect(deltas.at(-2)).toMatchObject({ kind: "usage", output: 12 });
    expect(deltas.at(-1)).toMatchObject({ kind: "finish", reason: "length" });
  });

  it("finds the beginning of a conversation in the server's cache again", async () => {
    const generation = {
      ...greedy([said("system", "A prefix that stays. ".repeat(40)), said("user", "Hello?")]),
      maximumOutputTokens: 2,
    };
    await ask(provider, generation);
    const again = await ask(provider, generation);
    const usage = again.find((delta) => delta.kind === "usage");
    expect(usage?.cacheRead).toBeGreaterThan(500);
    expect(usage?.input).toBeLessThan(100);
  });

  it("counts a request as it counts it when it answers, also the way that older servers know", async () => {
    const call = { kind: "tool-call", id: "c1", tool: "read_file", argumentsJson: '{"path":"a"}' } as const;
    const generation = {
      ...greedy([
        said("system", "You help."),
        said("user", "Größe? <|im_start|>"),
        { role: "assistant", parts: [call] },
        { role: "tool", parts: [{ kind: "tool-result", id: "c1", tool: "read_file", content: "a line", isError: false }] },
      ]),
      maximumOutputTokens: 1,
    };
    const usage = (await ask(provider, generation)).find((delta) => delta.kind === "usage")!;
    const counted = usage.input + usage.cacheRead;
    expect(await provider.countTokens(generation, new AbortController().signal)).toBe(counted);
    const older = await startOlder(server.url);
    expect(await new LlamaProvider({ urls: [older.url] }).countTokens(generation, new AbortController().signal)).toBe(counted);
    older.close();
  });

  it("reads what the next turn begins with while tools run", async () => {
    const asked = greedy([said("system", "A prefix of its own. ".repeat(40)), said("user", `Look into ${Date.now()}.`)]);
    const cachedAfter = async (warmsPrefixes: boolean, word: string): Promise<readonly number[]> => {
      const calling = await startCalling(server.url);
      const own = new LlamaProvider({ urls: [calling.url], warmsPrefixes });
      const first = { ...asked, messages: [said("system", `${word} `.repeat(200)), ...asked.messages] };
      const answer = partsOf(await ask(own, first));
      const written = warmsPrefixes ? await calling.warmed : 0;
      const results = answer.parts.flatMap((part) =>
        part.kind === "tool-call"
          ? [{ kind: "tool-result" as const, id: part.id, tool: part.tool, content: "A line.", isError: false }]
          : [],
      );
      const next = { ...first, messages: [...first.messages, answer, { role: "tool" as const, parts: results }], maximumOutputTokens: 2 };
      const usage = (await ask(own, next)).find((delta) => delta.kind === "usage")!;
      calling.close();
      return [usage.cacheRead, usage.input, written];
    };
    const [cold, all] = await cachedAfter(false, "cold");
    const [warm, rest, written] = await cachedAfter(true, "warm");
    expect(cold).toBeLessThan(all! / 4);
    expect(warm).toBeGreaterThan(rest! * 4);
    // Of none it writes one.
    expect(written).toBeLessThanOrEqual(1);
  });

  it("is shared by two gateways that know nothing of each other without more requests at once than it has slots", async () => {
    const gateways = [0, 1].map((index) => new LlamaProvider({ urls: [server.url], replica: { index, count: 2 } }));
    const over = new AbortController();
    const seen: number[] = [];
    const watching = (async () => {
      while (!over.signal.aborted) {
        // A server closes a connection now and then that it has been asked on often.
        const metrics = await fetch(`${server.url}/metrics`).then(
          (answer) => answer.text(),
          () => "",
        );
        const value = (name: string): number => Number(new RegExp(`^llamacpp:${name} (\\d+)`, "m").exec(metrics)?.[1] ?? 0);
        seen.push(value("requests_processing") + value("requests_deferred"));
      }
    })();
    const long = (text: string): Generation => ({ ...greedy([said("user", text)]), maximumOutputTokens: 150, stopSequences: [] });
    await Promise.all(gateways.flatMap((gateway) => ["a", "b", "c", "d"].map((text) => askAgain("llama", gateway, long(text)))));
    over.abort();
    await watching;
    expect(Math.max(...seen)).toBe(2);
    expect((await gateways[0]!.pool.instances()).map(({ groups }) => groups[0]!.share)).toEqual([1]);
  });

  it("breaks off no answer's connection for the one before on it, which it ends although it says that it keeps it", async () => {
    const asked = Array.from({ length: 60 }, (_, number) => ({ ...greedy([said("user", `Number ${number}`)]), maximumOutputTokens: 8 }));
    const answers = await Promise.all(asked.map((generation) => ask(provider, generation)));
    expect(answers.map((deltas) => deltas.at(-1)!.kind)).toEqual(asked.map(() => "finish"));
  });

  it("keeps a conversation's prefix as the pool expects it, and passes the trial for cross-talk", async () => {
    const own = new LlamaProvider({ urls: [server.url], answersBetweenCanaries: 3 });
    const turns = ["one", "two", "three"].map((text) => said("user", `${text} `.repeat(300)));
    for (const count of [1, 2, 3]) await askAgain("llama", own, { ...greedy(turns.slice(0, count)), maximumOutputTokens: 2 });
    const [instance] = await own.pool.instances();
    const { prompts } = instance!.groups[0]!;
    expect(prompts.expected).toBeGreaterThan(1_500);
    expect(prompts.cached / prompts.expected).toBeGreaterThan(0.9);
    await expect.poll(() => instance!.groups[0]!.answersSinceCanary + instance!.inFlight).toBe(0);
    expect(instance!.drain).toBeUndefined();
  });

  it("frees its slot when the caller goes away", async () => {
    const cancelled = new AbortController();
    const generation = { ...greedy([said("user", "Go on for long.")]), maximumOutputTokens: 20_000 };
    const seen: AnswerEvent[] = [];
    const run = generate(targetOf("llama", provider, generation.model), generation, {
      signal: cancelled.signal,
      remainingMilliseconds: undefined,
      onRetry: () => undefined,
    });
    const ended = (async () => {
      for await (const delta of run) {
        seen.push(delta);
        if (seen.length === 3) cancelled.abort();
      }
    })();
    await expect(ended).rejects.toMatchObject({ class: "abort" });
    await expect.poll(busySlots, { timeout: 2_000 }).toBe(0);
  });

  it("tells that a prompt is too long for it", async () => {
    const generation = generationOf("random", [said("user", "word ".repeat(10_000))]);
    await expect(ask(provider, generation)).rejects.toMatchObject({
      class: "context_overflow",
      providerCode: "exceed_context_size_error",
    });
  });

  it("says which models there are instead of an unknown one", async () => {
    const generation = generationOf("clever", [said("user", "Hello?")]);
    await expect(ask(provider, generation)).rejects.toMatchObject({
      reason: "model_not_found",
      advice: "They serve: llama/random.",
    });
  });

  it("constrains its output to a schema", async () => {
    const format = {
      type: "json_schema",
      json_schema: { schema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"], additionalProperties: false } },
    };
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "random", messages: [{ role: "user", content: "?" }], response_format: format, max_tokens: 200 }),
    });
    const answer = (await response.json()) as { choices: readonly { message: { content: string } }[] };
    expect(JSON.parse(answer.choices[0]!.message.content)).toEqual({ ok: expect.any(Boolean) });
  });
});
