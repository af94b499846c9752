import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { EventSchema, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Append } from "../../domain/log/event-log.ts";
import type { EventPayload } from "../../domain/log/event-payload.ts";

export interface EventRow extends Record<string, unknown> {
  readonly seq: string;
  readonly run_id: string;
  readonly turn: number;
  readonly payload: Uint8Array;
  readonly principal: string;
  readonly at: Date;
}

export const EVENT_COLUMNS = "seq, run_id, turn, payload, principal, at";

/** SQL for the words column: they come as one text, separated by blanks, and null where there are none. */
export function wordsOf(parameter: string): string {
  return `CASE WHEN ${parameter} IS NOT NULL THEN array_to_tsvector(string_to_array(${parameter}, ' ')) END`;
}

/** What the payload column holds: an Event with nothing but its payload, so that the type travels with it. */
export function payloadBytes(payload: EventPayload): Buffer {
  return Buffer.from(toBinary(EventSchema, create(EventSchema, { payload })));
}

/** The events of an append that follow a sequence, as they read when they come back from the table. */
export function eventsOfAppend(
  { lease, principal, events }: Pick<Append, "lease" | "principal" | "events">,
  before: number,
  at: Date,
): Event[] {
  const { sessionId, runId } = lease;
  return events.map(({ turn, payload }, index) =>
    create(EventSchema, { sessionId, runId, sequence: BigInt(before + 1 + index), turn, payload, principal, at: timestampFromDate(at) }),
  );
}

/**
 * The event as it was appended. One of a type that only a newer version knows keeps its bytes, and has a payload without a case.
 * @throws HlvmError `event_unreadable`
 */
export function eventOfRow(sessionId: string, row: EventRow): Event {
  const event = readPayload(sessionId, row);
  event.sessionId = sessionId;
  event.sequence = BigInt(row.seq);
  event.runId = row.run_id;
  event.turn = row.turn;
  event.principal = row.principal;
  event.at = timestampFromDate(row.at);
  return event;
}

function readPayload(sessionId: string, { seq, payload }: EventRow): Event {
  let cause: unknown;
  try {
    const event = fromBinary(EventSchema, payload);
    if (event.payload.case !== undefined || event.$unknown !== undefined) return event;
  } catch (thrown) {
    cause = thrown;
  }
  throw new HlvmError({
    code: "internal",
    reason: "event_unreadable",
    message: `Entry ${seq} in the log of session ${sessionId} cannot be read: it was damaged, or changed by hand.`,
    advice: `Ask without --resume for a new session, or restore the database from a backup. \`hlvm session watch ${sessionId}\` shows what stands before the entry; other sessions are not affected.`,
    cause,
  });
}
