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

/** Events that count no more: those between two sequences, both of which are not among them. */
export interface UndoneRange {
  readonly after: bigint;
  readonly before: bigint;
  /** What says so. */
  readonly event: Event;
  readonly toTurn: number;
}

/** What was undone, in order; what a later undo went back behind as well is in that one's range. @param events at least those that undo */
export function undoneRanges(events: readonly Event[]): UndoneRange[] {
  const ranges = events.flatMap((event): UndoneRange[] => {
    if (event.payload.case !== "conversationUndone") return [];
    const { lastSequence, toTurn } = event.payload.value;
    return [{ after: lastSequence, before: event.sequence, event, toTurn }];
  });
  return ranges.filter((range, index) => !ranges.slice(index + 1).some(({ after }) => after <= range.after));
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
