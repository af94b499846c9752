import { describe, expect, it } from "vitest";
import type { Delta } from "../../domain/generation.ts";
import { collect } from "../suite/generations.ts";
import { readAnthropicStream } from "./anthropic-stream.ts";

function read(...events: readonly object[]): Promise<Delta[]> {
  async function* stream(): AsyncGenerator<never, void> {
    for (const event of events) yield event as never;
  }
  return collect(readAnthropicStream("claude-opus-5-5", stream()));
}

const start = (content: readonly object[] = []) => ({ type: "message_start", message: { usage: { input_tokens: 3 }, content } });
const end = (stop_reason: string | null) => ({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 2 } });
const stop = { type: "message_stop" };

describe("a streamed message", () => {
  it("that begins twice is none", async () => {
    await expect(read(start(), start(), end("end_turn"), stop)).rejects.toMatchObject({ class: "transient", reason: "stream_malformed" });
  });

  it("has the blocks that stand in its beginning", async () => {
    const blocks = [
      { type: "text", text: "Hello." },
      { type: "tool_use", id: "t", name: "f", input: { a: 1 } },
    ];
    const deltas = await read(start(blocks), end("tool_use"), stop);
    expect(deltas).toMatchObject([
      { kind: "text", text: "Hello." },
      { kind: "tool-call", id: "t", tool: "f", argumentsJson: '{"a":1}' },
      { kind: "usage", input: 3, output: 2 },
      { kind: "finish", reason: "tool-calls" },
    ]);
  });

  it.each([
    ["pause_turn", "turn_paused"],
    ["something_new", "finish_unknown"],
  ])("that ends with %s is no whole answer", async (word, reason) => {
    const block = { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "t", name: "f", input: {} } };
    const half = { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"a' } };
    await expect(read(start(), block, half, end(word), stop)).rejects.toMatchObject({ reason, providerCode: word });
  });

  it("keeps its reason where a later delta says nothing of it", async () => {
    expect((await read(start(), end("max_tokens"), end(null), stop)).at(-1)).toMatchObject({ kind: "finish", reason: "length" });
  });
});
