import { create } from "@bufbuild/protobuf";
import { MessageSchema, Role, type Message } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { describe, expect, it } from "vitest";
import { fitMessages } from "./fit-messages.ts";

const MEGA = 1024 * 1024;
const text = (role: Role, length: number): Message =>
  create(MessageSchema, { role, parts: [{ part: { case: "text", value: "x".repeat(length) } }] });
const lengths = (messages: readonly Message[]): number[] => messages.map(({ parts }) => (parts[0]!.part.value as string).length);

describe("fitMessages", () => {
  it("leaves a conversation as it is that can be sent, a long text of the user's included", () => {
    const messages = [text(Role.USER, 3 * MEGA), text(Role.ASSISTANT, MEGA / 2)];
    expect(fitMessages(messages)).toEqual(messages);
  });

  it("cuts what was said at a length that nobody reads, and nothing else", () => {
    const [asked, said, short] = lengths(fitMessages([text(Role.USER, MEGA), text(Role.ASSISTANT, MEGA), text(Role.ASSISTANT, 40_000)]));
    expect([asked, short]).toEqual([MEGA, 40_000]);
    expect(said).toBeLessThan(33_000);
  });

  it("cuts the longest texts where all of them together are too long", () => {
    const messages = [...Array.from({ length: 20 }, () => text(Role.USER, MEGA)), text(Role.ASSISTANT, 1_000)];
    const fitting = lengths(fitMessages(messages));
    expect(fitting.reduce((total, length) => total + length, 0)).toBeLessThan(4 * MEGA);
    expect(fitting.at(-1)).toBe(1_000);
    expect(fitting[0]).toBeGreaterThan(100_000);
  });

  it("leaves thinking out that would no longer fit its signature, and cuts arguments to a text", () => {
    const message = create(MessageSchema, {
      role: Role.ASSISTANT,
      parts: [
        { part: { case: "thinking", value: { text: "x".repeat(MEGA) } } },
        { part: { case: "toolCall", value: { id: "a", tool: "write_file", argumentsJson: `{"content":"${"x".repeat(MEGA)}"}` } } },
      ],
    });
    const [fitting] = fitMessages([message]);
    expect(fitting!.parts).toMatchObject([
      { part: { case: "toolCall", value: { id: "a", argumentsJson: expect.stringContaining("[Cut after 32768 of") } } },
    ]);
  });
});
