import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { FinishReason, FinishSchema, ThinkingSchema, ToolCallPartSchema, type GenerateRequest } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { readHostile } from "./answer-door.ts";
import type { AnswerEvent } from "../../domain/model-calls.ts";
import type { ReadRequest } from "./door.ts";
import type { Fields } from "./fields.ts";
import { readChat } from "./read-chat.ts";
import { readMessages } from "./read-messages.ts";
import { readResponses } from "./read-responses.ts";

const HEAD = { id: "0".repeat(32), model: "a/b", inputTokens: 1, created: 0 };
const signed = new TextEncoder().encode('{"provider":"a","data":"signature"}');
const sealed = new TextEncoder().encode('{"provider":"a","data":"of the call"}');

/** A turn whose thinking and whose call the provider wants back with what it sent along. */
const TURN: readonly AnswerEvent[] = [
  { case: "thinkingDelta", value: "Hm, " },
  { case: "thinkingDelta", value: "a city." },
  { case: "thinking", value: create(ThinkingSchema, { text: "Hm, a city.", providerData: signed }) },
  { case: "textDelta", value: "I look." },
  {
    case: "toolCall",
    value: create(ToolCallPartSchema, { id: "c1", tool: "weather", argumentsJson: '{"city":"Bern"}', providerData: sealed }),
  },
  { case: "finish", value: create(FinishSchema, { reason: FinishReason.TOOL_CALLS }) },
];

function answer(
  read: (body: Fields) => ReadRequest,
  body: object,
): { content: object[]; output: object[]; choices: { message: object }[] } {
  const writer = readHostile(JSON.stringify(body), read).writer(HEAD);
  writer.begin();
  for (const event of TURN) writer.write(event);
  return JSON.parse(JSON.stringify(writer.whole())) as ReturnType<typeof answer>;
}

function partsOf(read: (body: Fields) => ReadRequest, body: object): unknown[] {
  const { messages }: GenerateRequest = readHostile(JSON.stringify(body), read).request;
  return messages.flatMap(({ role, parts }) => parts.map(({ part }) => [role, part.case, part.value]));
}

const text = (data: Uint8Array) => Buffer.from(data).toString();
const withData = (data: Uint8Array) => ({ providerData: expect.toSatisfy((given: Uint8Array) => text(given) === text(data)) as unknown });

describe("what a provider wants back", () => {
  const question = { role: "user", content: "The weather?" };

  it("goes round in messages: in signatures, and before the call", () => {
    const { content } = answer(readMessages, { model: "a/b", max_tokens: 5, messages: [question] });
    const result = { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "sunny" }] };
    const again = { model: "a/b", max_tokens: 5, messages: [question, { role: "assistant", content }, result] };
    expect(partsOf(readMessages, again)).toMatchObject([
      [2, "text", "The weather?"],
      [3, "thinking", { text: "Hm, a city.", ...withData(signed) }],
      [3, "text", "I look."],
      [3, "toolCall", { id: "c1", tool: "weather", argumentsJson: '{"city":"Bern"}', ...withData(sealed) }],
      [4, "toolResult", { id: "c1", tool: "weather", content: "sunny" }],
    ]);
  });

  it("goes round in responses: in encrypted contents", () => {
    const { output } = answer(readResponses, { model: "a/b", input: "The weather?" });
    const result = { type: "function_call_output", call_id: "c1", output: "sunny" };
    expect(partsOf(readResponses, { model: "a/b", input: [question, ...output, result] })).toMatchObject([
      [2, "text", "The weather?"],
      [3, "thinking", { text: "Hm, a city.", ...withData(signed) }],
      [3, "text", "I look."],
      [3, "toolCall", { id: "c1", ...withData(sealed) }],
      [4, "toolResult", { tool: "weather", content: "sunny" }],
    ]);
  });

  it("goes round in chat completions with the call; thinking goes as its words alone", () => {
    const { choices } = answer(readChat, { model: "a/b", messages: [question] });
    const result = { role: "tool", tool_call_id: "c1", content: "sunny" };
    expect(partsOf(readChat, { model: "a/b", messages: [question, choices[0]!.message, result] })).toMatchObject([
      [2, "text", "The weather?"],
      [3, "thinking", { text: "Hm, a city." }],
      [3, "text", "I look."],
      [3, "toolCall", { id: "c1", ...withData(sealed) }],
      [4, "toolResult", { tool: "weather", content: "sunny" }],
    ]);
  });

  it("that somebody else signed is passed on as it is, and never refused", () => {
    const thinking = { type: "thinking", thinking: "Hm.", signature: "not base64 at all!" };
    const messages = [question, { role: "assistant", content: [thinking] }, question];
    expect(partsOf(readMessages, { model: "a/b", max_tokens: 5, messages })).toHaveLength(3);
  });
});
