import { describe, expect, it } from "vitest";
import { generationOf, said } from "../suite/generations.ts";
import { chatRequest } from "./chat-request.ts";

function messagesOf(...messages: Parameters<typeof generationOf>[1]) {
  return (chatRequest("openai-compatible", generationOf("m", messages), "max_tokens") as { messages: readonly object[] }).messages;
}

describe("the messages of a chat completion", () => {
  it("have one system message, at the start, and no two of a user in a row", () => {
    expect(
      messagesOf(
        said("system", "Prefix."),
        said("system", "# Your Memory"),
        said("user", "Do it."),
        said("system", "Mind the time."),
        said("user", "Now."),
      ),
    ).toEqual([
      { role: "system", content: "Prefix.\n\n# Your Memory" },
      { role: "user", content: "Do it.\n\n<system-reminder>\nMind the time.\n</system-reminder>\n\nNow." },
    ]);
  });

  it("give calls back as they came, and what is no JSON as text", () => {
    const call = (argumentsJson: string) => ({ kind: "tool-call" as const, id: "1", tool: "t", argumentsJson });
    const result = { kind: "tool-result" as const, id: "1", tool: "t", content: "r", isError: false };
    expect(messagesOf({ role: "assistant", parts: [call('{"a": 1}'), call("{oops")] }, { role: "tool", parts: [result] })).toEqual([
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "1", type: "function", function: { name: "t", arguments: '{"a": 1}' } },
          { id: "1", type: "function", function: { name: "t", arguments: '{"unparsed_arguments":"{oops"}' } },
        ],
      },
      { role: "tool", tool_call_id: "1", content: "r" },
    ]);
  });
});
