import { describe, expect, it } from "vitest";
import type { Delta, Message } from "../../domain/generation.ts";
import { generationOf, said } from "../suite/generations.ts";
import { wholeDialect } from "./dialect.ts";
import { chatRequest } from "./chat-request.ts";
import { ChatStream } from "./chat-stream.ts";

type Chunk = Readonly<Record<string, unknown>>;

const delta = (fields: object, finish: string | null = null, more: object = {}): Chunk => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
  ...more,
});
const call = (fields: object): Chunk => delta({ tool_calls: [fields] });

const eventOf = (chunk: Chunk): Uint8Array => Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);

/** What is read of these events; the body ends after them without `[DONE]`. */
function read(...chunks: readonly Chunk[]): Delta[] {
  const stream = new ChatStream("test", "m");
  return [...chunks.flatMap((chunk) => [...stream.take(eventOf(chunk))]), ...stream.end()];
}

const callsIn = (deltas: readonly Delta[]) =>
  deltas.flatMap((each) => (each.kind === "tool-call" ? [[each.id, each.tool, each.argumentsJson]] : []));
const ending = { prompt_tokens: 20, completion_tokens: 5 };

/** The assistant's message as it goes back with the next request. */
function replayed(deltas: readonly Delta[], model = "m"): Chunk {
  const parts = deltas.flatMap((each): Message["parts"] =>
    each.kind === "thinking" || each.kind === "tool-call" || each.kind === "text" ? [each] : [],
  );
  const { messages } = chatRequest(
    "test",
    generationOf(model, [said("user", "?"), { role: "assistant", parts }]),
    wholeDialect("unknown"),
  ) as {
    messages: Chunk[];
  };
  return messages[1]!;
}

describe("what a server wants back", () => {
  it("is Google's signature with the very call that it came with, for the same model alone", () => {
    const extra_content = { google: { thought_signature: "c2lnbmVk" } };
    const deltas = read(
      call({ index: 0, id: "a", function: { name: "f", arguments: "{}" }, extra_content }),
      call({ index: 1, id: "b", function: { name: "g", arguments: "{}" } }),
      delta({}, "tool_calls"),
    );
    expect(replayed(deltas).tool_calls).toMatchObject([{ id: "a", extra_content }, { id: "b" }]);
    expect((replayed(deltas).tool_calls as Chunk[])[1]).not.toHaveProperty("extra_content");
    expect((replayed(deltas, "other").tool_calls as Chunk[])[0]).not.toHaveProperty("extra_content");
  });

  it("is OpenRouter's reasoning in parts, as they would have come whole", () => {
    const deltas = read(
      delta({ reasoning: "Two", reasoning_details: [{ type: "reasoning.text", index: 0, text: "Two", format: "x" }] }),
      delta({ reasoning: " and", reasoning_details: [{ type: "reasoning.text", index: 0, text: " and" }] }),
      delta({ reasoning_details: [{ type: "reasoning.text", index: 0, signature: "s" }] }),
      delta({ reasoning_details: [{ type: "reasoning.encrypted", index: 1, data: "AA" }] }),
      delta({ content: "4" }, "stop"),
    );
    expect(deltas.flatMap((each) => (each.kind === "thinking" ? [each.text] : []))).toEqual(["Two and"]);
    expect(replayed(deltas)).toMatchObject({
      content: "4",
      reasoning_details: [
        { type: "reasoning.text", index: 0, text: "Two and", format: "x", signature: "s" },
        { type: "reasoning.encrypted", index: 1, data: "AA" },
      ],
    });
  });

  it("is all of its thinking, and not the last of it alone", () => {
    const deltas = read(
      delta({ reasoning_content: "First." }),
      delta({ content: "So." }),
      delta({ reasoning_content: "Then." }),
      delta({ content: " Done." }, "stop"),
    );
    expect(replayed(deltas)).toMatchObject({ content: "So.\n Done.", reasoning_content: "First.\n\nThen." });
  });

  it("is Mistral's reasoning as a part of the content that it came in", () => {
    const deltas = read(
      delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Two and two." }] }] }),
      delta({ content: [{ type: "text", text: "4" }] }),
      delta({ content: "!" }, "stop"),
    );
    expect(deltas).toMatchObject([
      { kind: "thinking-delta", text: "Two and two." },
      { kind: "thinking", text: "Two and two." },
      { kind: "text", text: "4" },
      { kind: "text", text: "!" },
      { kind: "finish", reason: "stop" },
    ]);
    expect(replayed(deltas).content).toEqual([
      { type: "thinking", thinking: [{ type: "text", text: "Two and two." }] },
      { type: "text", text: "4\n!" },
    ]);
  });
});

describe("calls", () => {
  it("of one index and without ids are not put into one", () => {
    const deltas = read(
      call({ index: 0, function: { name: "f", arguments: '{"a":' } }),
      call({ index: 0, function: { arguments: "1}" } }),
      call({ index: 0, function: { name: "f", arguments: '{"a":2}' } }),
      delta({}, "tool_calls"),
    );
    expect(callsIn(deltas).map(([, ...rest]) => rest)).toEqual([
      ["f", '{"a":1}'],
      ["f", '{"a":2}'],
    ]);
  });

  it("without an index go on with the one before, and with their name said again too", () => {
    const deltas = read(
      call({ id: "a", function: { name: "f", arguments: "" } }),
      call({ function: { name: "f", arguments: '{"a"' } }),
      call({ function: { arguments: ":1}" } }),
      delta({}, "tool_calls"),
    );
    expect(callsIn(deltas)).toEqual([["a", "f", '{"a":1}']]);
  });
});

describe("the end", () => {
  it.each([
    ["model_length", "length"],
    ["safety", "refusal"],
    ["eos_token", "stop"],
    ["END_TURN", "stop"],
  ])("%s is %s", (word, reason) => {
    expect(read(delta({ content: "x" }, word)).at(-1)).toMatchObject({ kind: "finish", reason });
  });

  it.each([
    ["insufficient_system_resource", "transient", "answer_broken_off"],
    ["error", "transient", "answer_broken_off"],
    ["something_new", "unknown", "finish_unknown"],
  ])("%s is none, and lets no half call out", (word, errorClass, reason) => {
    const half = call({ index: 0, id: "a", function: { name: "f", arguments: '{"a' } });
    expect(() => read(half, delta({}, word))).toThrow(expect.objectContaining({ class: errorClass, reason, providerCode: word }));
  });

  it("without [DONE] counts where a finish reason came, and does not where none did", () => {
    expect(read(delta({ content: "x" }, "stop")).at(-1)).toMatchObject({ kind: "finish", reason: "stop" });
    expect(read(delta({ content: "x" })).some(({ kind }) => kind === "finish")).toBe(false);
  });

  it("comes with the usage, whatever the server sends after it or does with the connection", () => {
    const stream = new ChatStream("test", "m");
    const deltas = [...stream.take(eventOf(delta({ content: "x" }, "stop")))];
    expect(stream.isOver).toBe(false);
    deltas.push(...stream.take(eventOf({ choices: [], usage: ending })));
    expect(stream.isOver).toBe(true);
    deltas.push(...stream.take(eventOf({ error: "nobody may read this" })), ...stream.end());
    expect(deltas.at(-1)).toMatchObject({ kind: "finish" });
  });

  it.each([
    [
      { cached_tokens: 8, reasoning_tokens: 2 },
      { input: 12, cacheRead: 8, cacheWrite: 0, reasoning: 2 },
    ],
    [
      { cached_tokens: 8, cache_write_tokens: 5 },
      { input: 7, cacheRead: 8, cacheWrite: 5 },
    ],
    [{ prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 4 } }, { input: 13, cacheRead: 3, cacheWrite: 4 }],
    [{ prompt_cache_hit_tokens: 6 }, { input: 14, cacheRead: 6 }],
  ])("tells what was used where servers say so: %j", (fields, usage) => {
    const deltas = read(delta({ content: "x" }, "stop", { usage: { ...ending, ...fields } }));
    expect(deltas.find(({ kind }) => kind === "usage")).toMatchObject(usage);
  });

  it("keeps the words of an error that is a text, and takes none for null", () => {
    expect(() => read({ error: "the model crashed" })).toThrow("the model crashed");
    expect(read({ error: null, ...delta({ content: "x" }, "stop") }).at(-1)).toMatchObject({ kind: "finish" });
  });
});
