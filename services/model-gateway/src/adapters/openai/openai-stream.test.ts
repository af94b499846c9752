import { describe, expect, it } from "vitest";
import type { Delta, Message } from "../../domain/generation.ts";
import { collect, generationOf, textIn } from "../suite/generations.ts";
import { openaiRequest } from "./openai-request.ts";
import { readOpenaiStream } from "./openai-stream.ts";

const MODEL = "gpt-5.5";

function read(...events: readonly object[]): Promise<Delta[]> {
  async function* stream(): AsyncGenerator<never, void> {
    for (const event of events) yield event as never;
  }
  return collect(readOpenaiStream(MODEL, stream()));
}

const text = (delta: string) => ({ type: "response.output_text.delta", delta });
const done = (item: object) => ({ type: "response.output_item.done", item });
const completed = (response: object = {}) => ({ type: "response.completed", response });

function replayed(deltas: readonly Delta[], change: (text: string) => string = (same) => same) {
  const said = deltas.flatMap((each) => (each.kind === "text" ? [each.text] : [])).join("");
  const parts: Message["parts"] = [
    ...deltas.flatMap((each) => (each.kind === "thinking" ? [each] : [])),
    { kind: "text", text: change(said) },
  ];
  return openaiRequest(generationOf(MODEL, [{ role: "assistant", parts }])).input;
}

describe("an answer of the Responses API", () => {
  it("needs neither output nor summary to end", async () => {
    const reasoning = done({ type: "reasoning", id: "r", encrypted_content: "AA" });
    const call = done({ type: "function_call", id: "f", call_id: "c", name: "f", arguments: "{}" });
    expect((await read(reasoning, call, completed())).at(-1)).toEqual({ kind: "finish", reason: "tool-calls", detail: "" });
  });

  it("of two messages keeps them apart, and gives them back with their phase", async () => {
    const deltas = await read(
      text("I look."),
      done({ type: "message", id: "1", phase: "commentary" }),
      text("It is "),
      text("4."),
      done({ type: "message", id: "2", phase: "final_answer" }),
      completed(),
    );
    expect(textIn(deltas)).toBe("I look.\n\nIt is 4.");
    const messages = [
      { type: "message", role: "assistant", content: "I look.", phase: "commentary" },
      { type: "message", role: "assistant", content: "It is 4.", phase: "final_answer" },
    ];
    expect(replayed(deltas)).toEqual(messages);
    expect(replayed(deltas, (said) => `${said}!`)).toEqual([{ type: "message", role: "assistant", content: "I look.\n\nIt is 4.!" }]);
  });

  it("keeps the parts of its reasoning apart", async () => {
    const part = (index: number) => ({ type: "response.reasoning_summary_part.added", summary_index: index });
    const thought = (delta: string) => ({ type: "response.reasoning_summary_text.delta", delta });
    const summary = [
      { type: "summary_text", text: "One." },
      { type: "summary_text", text: "Two." },
    ];
    const deltas = await read(
      part(0),
      thought("One."),
      part(1),
      thought("Two."),
      done({ type: "reasoning", id: "r", summary }),
      completed(),
    );
    expect(deltas.flatMap((each) => (each.kind === "thinking-delta" ? [each.text] : [])).join("")).toBe("One.\n\nTwo.");
    expect(deltas.find(({ kind }) => kind === "thinking")).toMatchObject({ text: "One.\n\nTwo." });
  });

  it("has the end of a message that was not streamed", async () => {
    const whole = { type: "message", id: "1", content: [{ type: "output_text", text: "It is 4." }] };
    expect(textIn(await read(text("It is"), done(whole), completed()))).toBe("It is 4.");
  });

  it("that was not streamed item by item is read from its end", async () => {
    const output = [
      { type: "message", id: "m", content: [{ type: "output_text", text: "Hello." }] },
      { type: "function_call", id: "f", call_id: "c", name: "f", arguments: '{"a":1}' },
    ];
    const deltas = await read(completed({ output }));
    expect(textIn(deltas)).toBe("Hello.");
    expect(deltas).toContainEqual({ kind: "tool-call", id: "c", tool: "f", argumentsJson: '{"a":1}' });
  });
});
