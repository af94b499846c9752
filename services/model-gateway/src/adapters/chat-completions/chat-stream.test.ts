import { describe, expect, it } from "vitest";
import type { Delta, Message } from "../../domain/generation.ts";
import { collect, generationOf, said } from "../suite/generations.ts";
import { wholeDialect } from "./dialect.ts";
import { chatRequest } from "./chat-request.ts";
import { readChatStream } from "./chat-stream.ts";

type Chunk = Readonly<Record<string, unknown>>;

const delta = (fields: object, finish: string | null = null, more: object = {}): Chunk => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
  ...more,
});
const call = (fields: object): Chunk => delta({ tool_calls: [fields] });

/** What is read of these events; the body ends after them without `[DONE]`. */
async function read(...chunks: readonly Chunk[]): Promise<Delta[]> {
  async function* events(): AsyncGenerator<string, void> {
    for (const chunk of chunks) yield JSON.stringify(chunk);
  }
  return collect(readChatStream("test", "m", events()));
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
  it("is Google's signature with the very call that it came with, for the same model alone", async () => {
    const extra_content = { google: { thought_signature: "c2lnbmVk" } };
    const deltas = await read(
      call({ index: 0, id: "a", function: { name: "f", arguments: "{}" }, extra_content }),
      call({ index: 1, id: "b", function: { name: "g", arguments: "{}" } }),
      delta({}, "tool_calls"),
    );
    expect(replayed(deltas).tool_calls).toMatchObject([{ id: "a", extra_content }, { id: "b" }]);
    expect((replayed(deltas).tool_calls as Chunk[])[1]).not.toHaveProperty("extra_content");
    expect((replayed(deltas, "other").tool_calls as Chunk[])[0]).not.toHaveProperty("extra_content");
  });

  it("is OpenRouter's reasoning in parts, as they would have come whole", async () => {
    const deltas = await read(
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

  it("is all of its thinking, and not the last of it alone", async () => {
    const deltas = await read(
      delta({ reasoning_content: "First." }),
      delta({ content: "So." }),
      delta({ reasoning_content: "Then." }),
      delta({ content: " Done." }, "stop"),
    );
    expect(replayed(deltas)).toMatchObject({ content: "So.\n Done.", reasoning_content: "First.\n\nThen." });
  });

  it("is Mistral's reasoning as a part of the content that it came in", async () => {
    const deltas = await read(
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
  it("of one index and without ids are not put into one", async () => {
    const deltas = await read(
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

  it("without an index go on with the one before, and with their name said again too", async () => {
    const deltas = await read(
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
  ])("%s is %s", async (word, reason) => {
    expect((await read(delta({ content: "x" }, word))).at(-1)).toMatchObject({ kind: "finish", reason });
  });

  it.each([
    ["insufficient_system_resource", "transient", "answer_broken_off"],
    ["error", "transient", "answer_broken_off"],
    ["something_new", "unknown", "finish_unknown"],
  ])("%s is none, and lets no half call out", async (word, errorClass, reason) => {
    const half = call({ index: 0, id: "a", function: { name: "f", arguments: '{"a' } });
    await expect(read(half, delta({}, word))).rejects.toMatchObject({ class: errorClass, reason, providerCode: word });
  });

  it("without [DONE] counts where a finish reason came, and does not where none did", async () => {
    expect((await read(delta({ content: "x" }, "stop"))).at(-1)).toMatchObject({ kind: "finish", reason: "stop" });
    expect((await read(delta({ content: "x" }))).some(({ kind }) => kind === "finish")).toBe(false);
  });

  it("comes with the usage, whatever the server sends after it or does with the connection", async () => {
    async function* events(): AsyncGenerator<string, void> {
      yield JSON.stringify(delta({ content: "x" }, "stop"));
      yield JSON.stringify({ choices: [], usage: ending });
      throw new Error("nobody may wait for this");
    }
    expect((await collect(readChatStream("test", "m", events()))).at(-1)).toMatchObject({ kind: "finish" });
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
  ])("tells what was used where servers say so: %j", async (fields, usage) => {
    const deltas = await read(delta({ content: "x" }, "stop", { usage: { ...ending, ...fields } }));
    expect(deltas.find(({ kind }) => kind === "usage")).toMatchObject(usage);
  });

  it("keeps the words of an error that is a text, and takes none for null", async () => {
    await expect(read({ error: "the model crashed" })).rejects.toMatchObject({ message: expect.stringContaining("the model crashed") });
    expect((await read({ error: null, ...delta({ content: "x" }, "stop") })).at(-1)).toMatchObject({ kind: "finish" });
  });
});
