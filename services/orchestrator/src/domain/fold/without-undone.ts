import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";

/** The events that still count, in order: what was undone is left out, and so is the word that it was. */
export function withoutUndone(events: readonly Event[]): Event[] {
  const counting: Event[] = [];
  for (const event of events) {
    if (event.payload.case !== "conversationUndone") counting.push(event);
    else while (counting.length > 0 && counting.at(-1)!.sequence > event.payload.value.lastSequence) counting.pop();
  }
  return counting;
}

/** Of an event that was undone, what was still counting after that; undefined where it counts. @param events after it, in order */
export function undoneTo(events: readonly Event[], sequence: bigint): bigint | undefined {
  for (const { sequence: at, payload } of events)
    if (payload.case === "conversationUndone" && at > sequence && payload.value.lastSequence < sequence) return payload.value.lastSequence;
  return undefined;
}

/** A turn of a session: an answer of the model, and what it had done. */
export interface SessionTurn {
  readonly runId: string;
  readonly turn: number;
  /** Of its last event from which the conversation is folded. */
  readonly lastSequence: bigint;
  /** The beginning of what the model said, or the tools that it called. */
  readonly summary: string;
}

const SUMMARY_LENGTH = 160;

/** The turns that count, in order: they are numbered from 1 over the whole session. @param events of the conversation */
export function sessionTurns(events: readonly Event[]): SessionTurn[] {
  const turns: SessionTurn[] = [];
  for (const { runId, turn, sequence, payload } of events) {
    if (payload.case === "assistantMessage") {
      const { text, toolCalls } = payload.value;
      const summary = text === "" ? toolCalls.map(({ tool }) => tool).join(", ") : text;
      turns.push({ runId, turn, lastSequence: sequence, summary: summary.slice(0, SUMMARY_LENGTH).toWellFormed() });
      continue;
    }
    const last = turns.at(-1);
    if (last !== undefined && last.runId === runId && last.turn === turn) turns[turns.length - 1] = { ...last, lastSequence: sequence };
  }
  return turns;
}
