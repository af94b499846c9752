import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Role, ThinkingSchema, ToolCallPartSchema, type Message } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { eventPayload, type EventPayload } from "../log/event-payload.ts";
import { callId } from "../tools/call-id.ts";
import { Conversation, type FoldedEvent } from "./conversation.ts";

const RUN = "11111111-1111-4111-8111-111111111111";

const event = (turn: number, payload: EventPayload, runId = RUN): FoldedEvent => ({ runId, turn, payload });
const question = (text: string): FoldedEvent => event(0, eventPayload("userMessage", { text }));
const started = (model: string): FoldedEvent => event(0, eventPayload("runStarted", { model }));
const answer = (turn: number, text: string, tools: readonly string[] = [], runId = RUN): FoldedEvent =>
  event(
    turn,
    eventPayload("assistantMessage", { text, toolCalls: tools.map((tool, index) => ({ id: `p${index}`, tool, argumentsJson: "{}" })) }),
    runId,
  );
const end = (turn: number, place: number, content: string, runId = RUN): FoldedEvent =>
  event(turn, eventPayload("toolEnd", { callId: callId(runId, turn, place), tool: "t", result: { success: true, content } }), runId);

function fold(events: readonly FoldedEvent[], model = "a/b"): Message[] {
  const conversation = new Conversation(model);
  for (const one of events) conversation.add(one);
  return conversation.messages();
}

const brief = (messages: readonly Message[]): unknown[] =>
  messages.map(({ role, parts }) => [
    Object.entries(Role).find(([, value]) => value === role)![0],
    ...parts.map(({ part }) => {
      if (part.case === "toolResult") return `${part.value.id}${part.value.isError ? "!" : "="}${part.value.content}`;
      return part.case === "toolCall" ? `call ${part.value.id}` : part.case === "text" ? part.value : part.case;
    }),
  ]);

describe("Conversation", () => {
  it("gives results in the order of the calls, whatever the order in which they came", () => {
    const messages = fold([question("q"), answer(1, "let me see", ["x", "y"]), end(1, 2, "second"), end(1, 1, "first"), answer(2, "done")]);
    expect(brief(messages)).toEqual([
      ["USER", "q"],
      ["ASSISTANT", "let me see", "call p0", "call p1"],
      ["TOOL", "p0=first", "p1=second"],
      ["ASSISTANT", "done"],
    ]);
  });

  it("tells the model of a call without a result that it was cancelled", () => {
    const messages = fold([question("q"), answer(1, "", ["x", "y"]), end(1, 1, "first"), question("again")]);
    expect(brief(messages)[2]).toEqual(["TOOL", "p0=first", expect.stringMatching(/^p1!Cancelled: .*may or may not/)]);
    expect(brief(messages)[3]).toEqual(["USER", "again"]);
  });

  it("makes what a call ended with once, whatever is read and added then, so that its tokens are estimated once", () => {
    const conversation = new Conversation("a/b");
    for (const one of [question("q"), answer(1, "", ["x", "y"]), end(1, 1, "first")]) conversation.add(one);
    const given = () => conversation.messages()[2]!.parts[0];
    const first = given();
    expect(first).toBe(conversation.resultOf(callId(RUN, 1, 1)));
    expect(conversation.resultOf(callId(RUN, 1, 2))).toBeUndefined();
    conversation.add(end(1, 2, "second"));
    expect(given()).toBe(first);
    conversation.add(answer(2, "done"));
    expect(given()).toBe(first);
  });

  it("keeps thinking for the model that thought it, and only for that", () => {
    const thinking = [create(ThinkingSchema, { text: "hm", providerData: new Uint8Array([1]) })];
    const events = [question("q"), started("a/b"), event(1, eventPayload("assistantMessage", { text: "yes", thinking }))];
    expect(brief(fold(events, "a/b"))[1]).toEqual(["ASSISTANT", "thinking", "yes"]);
    expect(brief(fold(events, "c/d"))[1]).toEqual(["ASSISTANT", "yes"]);
  });

  it("keeps what came with a call for the model that made it, and only for that", () => {
    const toolCalls = [create(ToolCallPartSchema, { id: "1", tool: "t", argumentsJson: "{}", providerData: new Uint8Array([1]) })];
    const events = [question("q"), started("a/b"), event(1, eventPayload("assistantMessage", { toolCalls }))];
    const dataFor = (model: string) =>
      fold(events, model).flatMap(({ parts }) =>
        parts.flatMap(({ part }) => (part.case === "toolCall" ? [part.value.providerData.length] : [])),
      );
    expect([dataFor("a/b"), dataFor("c/d")]).toEqual([[1], [0]]);
  });

  it("puts attachments before the question, and joins questions that nobody answered", () => {
    const attached = event(0, eventPayload("userMessage", { text: "why?", attachments: [{ path: "a.txt", text: "hello" }] }));
    expect(brief(fold([attached, question("well?")]))).toEqual([
      ["USER", '<attachment path="a.txt">\nhello\n</attachment>', "why?", "well?"],
    ]);
  });

  it("leaves out an answer that was cut before it said anything", () => {
    expect(brief(fold([question("q"), answer(1, ""), question("r")]))).toEqual([["USER", "q", "r"]]);
  });

  it("folds any part of any log into a conversation where every call has exactly one result", () => {
    const turn = fc.record({
      text: fc.string(),
      tools: fc.integer({ min: 0, max: 4 }),
      answered: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 6 }),
    });
    const run = fc.record({ runId: fc.uuid(), turns: fc.array(turn, { maxLength: 4 }) });
    const log = fc
      .array(run, { maxLength: 4 })
      .map((runs) =>
        runs.flatMap(({ runId, turns }) => [
          question("q"),
          started("a/b"),
          ...turns.flatMap(({ text, tools, answered }, index) => [
            answer(index + 1, text, Array<string>(tools).fill("t"), runId),
            ...answered.map((place) => end(index + 1, place, `result ${place}`, runId)),
          ]),
        ]),
      );
    fc.assert(
      fc.property(log, fc.nat(), (events, cut) => {
        const messages = fold(events.slice(0, cut % (events.length + 1)));
        messages.forEach(({ role, parts }, index) => {
          expect(parts.length).toBeGreaterThan(0);
          const next = messages[index + 1];
          const calls = parts.flatMap(({ part }) => (part.case === "toolCall" ? [part.value.id] : []));
          const given = next?.parts.flatMap(({ part }) => (part.case === "toolResult" ? [part.value.id] : []));
          expect(given ?? []).toEqual(calls);
          expect(role === Role.USER && next?.role === Role.USER).toBe(false);
        });
      }),
    );
  });
});
