import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, it } from "vitest";
import { Role, type Message } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { CompactionSchema, type Compaction } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { Conversation, type FoldedEvent } from "../fold/conversation.ts";
import { eventPayload, type EventPayload } from "../log/event-payload.ts";
import { callId } from "../tools/call-id.ts";
import { planCompaction } from "./plan-compaction.ts";

const MODEL = "a/b";

const turn = fc.record({ text: fc.string(), tools: fc.integer({ min: 0, max: 3 }), length: fc.integer({ min: 0, max: 3_000 }) });
const run = fc.record({
  runId: fc.uuid(),
  turns: fc.array(turn, { maxLength: 6 }),
  steered: fc.boolean(),
  remembers: fc.boolean(),
});

/** A log of whole turns, with the sequences that it would have; in between are events that are not folded. */
const log = fc.array(run, { minLength: 1, maxLength: 3 }).map((runs) => {
  const events: FoldedEvent[] = [];
  let sequence = 0n;
  const add = (runId: string, of: number, payload: EventPayload): void => {
    sequence += 2n;
    events.push({ runId, turn: of, payload, sequence, principal: "user:ada" });
  };
  for (const [index, { runId, turns, steered, remembers }] of runs.entries()) {
    add(runId, 0, eventPayload("userMessage", { text: `question ${index}` }));
    add(runId, 0, eventPayload("runStarted", { model: MODEL }));
    if (remembers) add(runId, 0, eventPayload("memoryActivity", { recalled: ["a fact"] }));
    for (const [place, { text, tools, length }] of turns.entries()) {
      const toolCalls = Array.from({ length: tools }, (_, at) => ({ id: `p${at}`, tool: "read_file", argumentsJson: '{"path":"a"}' }));
      add(runId, place + 1, eventPayload("assistantMessage", { text, toolCalls }));
      for (let at = 1; at <= tools; at++) {
        const result = { success: true, content: "x".repeat(length) };
        add(runId, place + 1, eventPayload("toolEnd", { callId: callId(runId, place + 1, at), tool: "read_file", result }));
      }
      if (steered && place === 1) add(runId, place + 1, eventPayload("userMessage", { text: `steered ${index}` }));
    }
  }
  return events;
});

function fold(events: readonly FoldedEvent[]): Conversation {
  const conversation = new Conversation(MODEL);
  for (const event of events) conversation.add(event);
  return conversation;
}

function compact(events: readonly FoldedEvent[], tail: number): Compaction {
  const { folded, ...plan } = planCompaction(fold(events), tail);
  const { keptSequences, results, putAside } = plan;
  const lists = { keptSequences: [...keptSequences], results: [...results], putAside: [...putAside] };
  return create(CompactionSchema, { ...plan, ...lists, summary: `a summary of ${folded.length}` });
}

/** What a replica reads of the log after a compaction. */
function left(events: readonly FoldedEvent[], { toSequence, keptSequences }: Compaction): FoldedEvent[] {
  return events.filter(({ sequence = 0n }) => sequence > toSequence || keptSequences.includes(sequence));
}

const textsOf = (messages: readonly Message[]): unknown[] => messages.flatMap(({ parts }) => parts.map(({ part }) => part.value));

it("leaves the task, whole turns, and the same context to whoever reads only what is left, compaction after compaction", () => {
  fc.assert(
    fc.property(log, fc.nat(2_000), fc.nat(2_000), fc.nat(), (all, firstTail, secondTail, cut) => {
      const turns = all.flatMap(({ payload }, index) => (payload.case === "assistantMessage" ? [index] : []));
      const until = turns.length === 0 ? all.length : turns[cut % turns.length]!;
      const event = (payload: Compaction, sequence: bigint): FoldedEvent => ({
        runId: all.at(-1)!.runId,
        turn: 1,
        payload: eventPayload("compaction", payload),
        sequence,
      });
      const first = event(compact(all.slice(0, until), firstTail), (all[until - 1]?.sequence ?? 0n) + 1n);
      const once = [...all.slice(0, until), first, ...all.slice(until)];
      const second = compact(once, secondTail);
      const whole = fold([...once, event(second, all.at(-1)!.sequence! + 1n)]);
      const messages = whole.messages();
      const partial = fold(left([...once, event(second, all.at(-1)!.sequence! + 1n)], second));

      expect(partial.messages()).toEqual(messages);
      expect(partial.memory).toEqual(whole.memory);
      expect(partial.floor?.trust).toBe(whole.floor?.trust);
      const texts = textsOf(messages);
      expect(texts).toContain("question 0");
      expect(texts).toContain(`question ${new Set(all.map(({ runId }) => runId)).size - 1}`);
      messages.forEach(({ role, parts }, index) => {
        expect(parts.length).toBeGreaterThan(0);
        const next = messages[index + 1];
        const calls = parts.flatMap(({ part }) => (part.case === "toolCall" ? [part.value.id] : []));
        const given = next?.parts.flatMap(({ part }) => (part.case === "toolResult" ? [part.value.id] : []));
        expect(given ?? []).toEqual(calls);
        expect(role === Role.USER && next?.role === Role.USER).toBe(false);
      });
    }),
    { numRuns: 300 },
  );
});
