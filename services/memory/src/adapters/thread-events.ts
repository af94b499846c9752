import type { Queries } from "@hlvm/postgres/database";
import type { Place } from "../domain/fact-history.ts";
import type { FactUse, ThreadEvent, ThreadQuestion } from "../domain/threads/thread.ts";
import type { RecallKind } from "../domain/usage/usage-log.ts";
import type { Viewer } from "../domain/viewer.ts";
import { CHANGE_COLUMNS, changesOf, type FactChangeRow } from "./fact-change-row.ts";
import { TURN_COLUMNS, turnOf, type TurnRow } from "./transcript-row.ts";

interface Items {
  readonly factIds: readonly string[];
  readonly turnIds: readonly string[];
}

interface EventRow extends Record<string, unknown> {
  id: string;
  at: Date;
  /** To the microsecond. */
  place: string;
}

interface UseRow extends Record<string, unknown> {
  id: string;
  kind: RecallKind | null;
  session_id: string;
  run_id: string;
  query: string;
  fact_ids: string[];
}

/** All that happened with facts and turns, each by what it is and its id. $1 facts, $2 turns, $3 organization, $4 person. */
const EVENTS = `SELECT 'change:' || change_id AS id, changed_at AS at FROM fact_change WHERE change_id IN (
    SELECT change_id FROM fact_change WHERE fact_id = ANY($1::uuid[])
    UNION SELECT change_id FROM fact_change_part WHERE fact_id = ANY($1::uuid[])
  )
  UNION ALL
  SELECT 'turn:' || turn_id, coalesce(said_at, imported_at) FROM transcript_turn JOIN transcript USING (transcript_id)
    WHERE turn_id = ANY($2::uuid[])
  UNION ALL
  SELECT 'shown:' || recall_id, recalled_at FROM recall_log WHERE organization = $3 AND owner = $4 AND shown && $1::uuid[]
  UNION ALL
  SELECT 'used:' || run_id, answered_at FROM answered_run WHERE organization = $3 AND owner = $4 AND used && $1::uuid[]`;

/** What happened with these, latest first, as far as a page goes. */
export async function eventsOf(
  queries: Queries,
  viewer: Viewer,
  { factIds, turnIds }: Items,
  { limit, before }: ThreadQuestion,
): Promise<{ readonly events: ThreadEvent[]; readonly end: Place | undefined }> {
  const rows = await queries.query<EventRow>(
    `SELECT id, at, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place FROM (${EVENTS}) AS event
     WHERE $5::timestamptz IS NULL OR (at, id COLLATE "C") < ($5::timestamptz, $6::text COLLATE "C")
     ORDER BY at DESC, id COLLATE "C" DESC LIMIT $7`,
    [factIds, turnIds, viewer.organization, viewer.principal, before?.at ?? null, before?.id ?? "", limit + 1],
    "thread-events",
  );
  const page = rows.slice(0, limit);
  const idsOf = (what: string): string[] => page.filter(({ id }) => id.startsWith(`${what}:`)).map(({ id }) => id.slice(what.length + 1));
  const byId = new Map([
    ...(await changes(queries, idsOf("change"))),
    ...(await turns(queries, idsOf("turn"))),
    ...(await uses(queries, viewer, factIds, "shown", idsOf("shown"))),
    ...(await uses(queries, viewer, factIds, "used", idsOf("used"))),
  ]);
  const last = page.at(-1);
  return {
    events: page.flatMap(({ id, at }) => {
      const event = byId.get(id);
      return event === undefined ? [] : [{ at, ...event }];
    }),
    end: rows.length > limit && last !== undefined ? { at: last.place, id: last.id } : undefined,
  };
}

type WithoutTime<Event> = Event extends unknown ? Omit<Event, "at"> : never;
type EventsById = readonly (readonly [id: string, event: WithoutTime<ThreadEvent>])[];

async function changes(queries: Queries, ids: readonly string[]): Promise<EventsById> {
  const sql = `SELECT ${CHANGE_COLUMNS} FROM fact_change AS change WHERE change_id = ANY($1::uuid[])`;
  const found = await changesOf(queries, await queries.query<FactChangeRow>(sql, [ids], "thread-changes"));
  return found.map((change) => [`change:${change.id}`, { what: "change", change }]);
}

async function turns(queries: Queries, ids: readonly string[]): Promise<EventsById> {
  const rows = await queries.query<TurnRow & { turn_id: string; tool: string; session: string; title: string }>(
    `SELECT turn_id, tool, session, title, ${TURN_COLUMNS} FROM transcript_turn JOIN transcript USING (transcript_id)
     WHERE turn_id = ANY($1::uuid[])`,
    [ids],
    "thread-turns",
  );
  return rows.map((row) => {
    const { turn_id: id, tool, session, title } = row;
    return [`turn:${id}`, { what: "turn", transcript: { tool, session, title }, turn: turnOf(row) }];
  });
}

async function uses(
  queries: Queries,
  viewer: Viewer,
  factIds: readonly string[],
  what: "shown" | "used",
  ids: readonly string[],
): Promise<EventsById> {
  const ofThread = `(SELECT coalesce(array_agg(one), '{}') FROM unnest(${what}) AS one WHERE one = ANY($1::uuid[])) AS fact_ids`;
  const sql =
    what === "shown"
      ? `SELECT recall_id::text AS id, kind, session_id, run_id, query, ${ofThread} FROM recall_log
         WHERE organization = $2 AND owner = $3 AND recall_id = ANY($4::bigint[])`
      : `SELECT run_id AS id, NULL AS kind, '' AS session_id, run_id, '' AS query, ${ofThread} FROM answered_run
         WHERE organization = $2 AND owner = $3 AND run_id = ANY($4::text[])`;
  const rows = await queries.query<UseRow>(sql, [factIds, viewer.organization, viewer.principal, ids], `thread-${what}`);
  return rows.map((row) => [`${what}:${row.id}`, { what, use: useOf(row) }]);
}

function useOf({ kind, session_id: sessionId, run_id: runId, query, fact_ids: factIds }: UseRow): FactUse {
  return { kind: kind ?? undefined, sessionId, runId, query, factIds };
}
