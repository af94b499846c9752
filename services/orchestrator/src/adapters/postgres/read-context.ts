import type { Queries } from "@hlvm/postgres/database";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { undoneRanges, withoutUndone } from "../../domain/fold/without-undone.ts";
import { EVENT_COLUMNS, eventOfRow, type EventRow } from "./event-rows.ts";

const READ_UNDONE = `
  SELECT ${EVENT_COLUMNS} FROM event WHERE session_id = $1 AND type = 'conversation_undone' ORDER BY seq`;
/** Ranges that were undone stand in two arrays: the last that counts before each, and the word that it was undone. */
const COUNTS = "NOT EXISTS (SELECT FROM unnest($2::bigint[], $3::bigint[]) AS undone (after, before) WHERE seq > after AND seq < before)";
const READ_COMPACTION = `
  SELECT ${EVENT_COLUMNS} FROM event WHERE session_id = $1 AND type = 'compaction' AND ${COUNTS} ORDER BY seq DESC LIMIT 1`;

const CONTEXT_TYPES = `'user_message', 'message_queued', 'run_started', 'assistant_message', 'tool_end', 'conversation_undone',
  'session_imported', 'memory_activity', 'instructions_loaded', 'compaction', 'todo_updated', 'plan_created', 'plan_answered', 'plan_step',
  'reminder'`;
/** Of the figures of turns the last ones are enough: what comes after them is estimated as they were. */
const LAST_FIGURES = `(SELECT seq FROM event WHERE session_id = $1 AND type = 'turn_stats' AND ${COUNTS} ORDER BY seq DESC LIMIT 1)`;
/** Not ordered: that many rows would be sorted on disk, and they come almost in order. */
const READ_CONTEXT = `
  SELECT ${EVENT_COLUMNS} FROM event
  WHERE session_id = $1 AND ((seq > $4 OR seq = ANY ($5::bigint[])) AND type IN (${CONTEXT_TYPES})
    OR seq = 1 AND type = 'session_imported' OR seq = ${LAST_FIGURES})`;

/** Every word in a session's log that something was undone, in order. */
export async function readUndone(queries: Queries, sessionId: string): Promise<Event[]> {
  const rows = await queries.query<EventRow>(READ_UNDONE, [sessionId], "read_undone");
  return rows.map((row) => eventOfRow(sessionId, row));
}

/** What is left after the last compaction that counts, and all since, without what was undone. */
export async function readContext(queries: Queries, sessionId: string): Promise<Event[]> {
  const ranges = undoneRanges(await readUndone(queries, sessionId));
  const counting = [sessionId, ranges.map(({ after }) => after), ranges.map(({ before }) => before)];
  const [last] = await queries.query<EventRow>(READ_COMPACTION, counting, "read_compaction");
  const compacted = last === undefined ? undefined : eventOfRow(sessionId, last);
  const { toSequence = 0n, keptSequences = [] } = compacted?.payload.case === "compaction" ? compacted.payload.value : {};
  const rows = await queries.query<EventRow>(READ_CONTEXT, [...counting, toSequence, keptSequences], "read_context");
  const ordered = rows.toSorted((one, other) => Number(one.seq) - Number(other.seq));
  return withoutUndone(ordered.map((row) => eventOfRow(sessionId, row)));
}
