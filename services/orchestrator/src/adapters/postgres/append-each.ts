import { eventType } from "@hlvm/ndjson/event-type";
import type { Queries } from "@hlvm/postgres/database";
import type { Append } from "../../domain/log/event-log.ts";
import { payloadBytes } from "./event-rows.ts";

/** Rows that somebody has locked are left out: they would hold up the other runs. */
const APPEND_EACH = `
  WITH held AS (
    SELECT run.run_id, run.session_id, given.events
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::int[]) AS given (run_id, session_id, owner, position, events)
    JOIN run ON run.run_id = given.run_id AND run.session_id = given.session_id AND lease_owner = given.owner AND appended = given.position
    JOIN session ON session.session_id = run.session_id
    WHERE lease_until > now() AND ended_at IS NULL
    FOR NO KEY UPDATE OF run, session SKIP LOCKED
  ),
  counted AS (
    UPDATE run SET appended = appended + held.events FROM held WHERE run.run_id = held.run_id
  ),
  grown AS (
    UPDATE session SET last_seq = last_seq + held.events, updated_at = now()
    FROM held WHERE session.session_id = held.session_id
    RETURNING held.run_id, session.session_id, last_seq - held.events AS before
  ),
  added AS (
    INSERT INTO event (session_id, seq, run_id, turn, type, payload, principal, at)
    SELECT session_id, before + item.place, run_id, item.turn, item.type, item.payload, item.principal, $12
    FROM grown JOIN unnest($6::uuid[], $7::int[], $8::int[], $9::text[], $10::bytea[], $11::text[])
      AS item (run_id, place, turn, type, payload, principal) USING (run_id)
  )
  SELECT run_id, before FROM grown`;

/** @returns the sequence after which a run's events were added; runs that are not held, or that somebody has locked, are missing */
export async function appendEach(queries: Queries, appends: readonly Append[], at: Date): Promise<ReadonlyMap<string, number>> {
  const items = appends.flatMap(({ lease, principal, events }) =>
    events.map(({ turn, payload }, index) => ({ runId: lease.runId, place: index + 1, turn, payload, principal })),
  );
  const rows = await queries.query<{ run_id: string; before: string }>(
    APPEND_EACH,
    [
      appends.map(({ lease }) => lease.runId),
      appends.map(({ lease }) => lease.sessionId),
      appends.map(({ lease }) => lease.owner),
      appends.map(({ position }) => position),
      appends.map(({ events }) => events.length),
      items.map(({ runId }) => runId),
      items.map(({ place }) => place),
      items.map(({ turn }) => turn),
      items.map(({ payload }) => eventType(payload.case)),
      items.map(({ payload }) => payloadBytes(payload)),
      items.map(({ principal }) => principal),
      at,
    ],
    "append_each",
  );
  return new Map(rows.map(({ run_id, before }) => [run_id, Number(before)]));
}
