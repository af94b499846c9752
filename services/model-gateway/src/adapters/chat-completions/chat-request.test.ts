import { describe, expect, it } from "vitest";
import { generationOf, said } from "../suite/generations.ts";
import { wholeDialect } from "./dialect.ts";
import { chatRequest } from "./chat-request.ts";

function messagesOf(...messages: Parameters<typeof generationOf>[1]) {
  return (chatRequest("openai-compatible", generationOf("m", messages), wholeDialect("unknown")) as { messages: readonly object[] })
    .messages;
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

  it.each([
    ["functions.read_file:0", "functions.read_file:0"],
    ["x".repeat(41), expect.stringMatching(/^[a-zA-Z0-9_-]{1,40}$/)],
  ])("name calls as OpenAI takes them, and leave an id alone that is short enough: %s", (id, sent) => {
    const call = { kind: "tool-call", id, tool: "functions.read file", argumentsJson: "{}" } as const;
    const result = { kind: "tool-result", id, tool: "functions.read file", content: "r", isError: false } as const;
    const [asked, told] = messagesOf({ role: "assistant", parts: [call] }, { role: "tool", parts: [result] }) as [
      { tool_calls: readonly { id: string; function: { name: string } }[] },
      { tool_call_id: string },
    ];
    expect(asked.tool_calls).toMatchObject([{ id: sent, function: { name: expect.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/) } }]);
    expect(told.tool_call_id).toBe(asked.tool_calls[0]!.id);
  });
});
