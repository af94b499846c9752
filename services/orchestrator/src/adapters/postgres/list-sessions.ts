import type { Queries } from "@hlvm/postgres/database";
import { fromBinary } from "@bufbuild/protobuf";
import { EventSchema } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { EventPayload } from "../../domain/log/event-payload.ts";
import { saidIn } from "../../domain/log/search-words.ts";
import type { SessionFilter, SessionOwner, SessionPage, SessionPlace } from "../../domain/session/session-store.ts";
import { reaching } from "./postgres-grant-store.ts";
import { SESSION_COLUMNS, sessionOfRow, type SessionRow } from "./session-rows.ts";

/** A word is found by its beginning. Quoted, nothing in it is an operator. */
const QUERY = "(SELECT string_agg('''' || word || ''':*', ' & ')::tsquery FROM unnest($6::text[]) AS word)";

/** One's own, and what is shared, whose workers are shared with it. */
const THEIRS = "(owner = $2 OR coalesce(work_session_id, session.session_id) IN (SELECT session_id FROM shared))";

/**
 * No index has updated_at: every append changes it, and would have to write the index too. Sorting 2,000 sessions takes
 * some 2 ms, and what has to be looked up for a session is looked up for those of the page alone. Whose they are comes
 * first: nobody's words are searched but those that the caller may read.
 */
const LIST = `
  WITH RECURSIVE shared AS MATERIALIZED (SELECT session_id FROM session_grant WHERE ${reaching("$1", "$2", "$16")}),
  below AS (
    SELECT session_id FROM session WHERE parent_session_id = $15::uuid
    UNION ALL SELECT child.session_id FROM below JOIN session AS child ON child.parent_session_id = below.session_id
  ),
  wanted AS MATERIALIZED (SELECT ${QUERY} AS query),
  said AS MATERIALIZED (
    SELECT event.session_id, min(seq) AS seq FROM wanted, event JOIN session USING (session_id)
    WHERE query IS NOT NULL AND organization = $1 AND ${THEIRS} AND NOT stateless AND words IS NOT NULL AND words @@ query
    GROUP BY event.session_id
  ),
  page AS (
    SELECT session_id, said.seq AS said_at
    FROM session CROSS JOIN wanted LEFT JOIN said USING (session_id)
    WHERE organization = $1 AND ${THEIRS} AND (NOT stateless OR $15 IS NOT NULL)
      AND (CASE WHEN $15::uuid IS NULL THEN $14::boolean OR parent_session_id IS NULL ELSE session_id IN (SELECT session_id FROM below) END)
      AND ($4::timestamptz IS NULL OR (updated_at, session_id) < ($4::timestamptz, $5::uuid))
      AND (query IS NULL OR said.seq IS NOT NULL OR title_words @@ query)
      AND ($17::boolean IS NULL OR $17 = (owner = $2))
      AND ($7::boolean IS NULL OR archived = $7)
      AND ($8 = '' OR workspace = $8 OR starts_with(workspace, rtrim($8, '/') || '/'))
      AND ($9 = '' OR model = $9)
      AND ($10::timestamptz IS NULL OR updated_at >= $10)
      AND ($11::timestamptz IS NULL OR updated_at < $11)
      AND ($12::text IS NULL OR $12 = CASE
        WHEN EXISTS (SELECT FROM run WHERE run.session_id = session.session_id AND ended_at IS NULL) THEN 'running'
        WHEN EXISTS (SELECT FROM run WHERE run.session_id = session.session_id) THEN 'ended' ELSE 'new' END)
      AND ($13::smallint IS NULL OR $13 = (
        SELECT stop_reason FROM run WHERE run.session_id = session.session_id ORDER BY started_at DESC LIMIT 1))
    ORDER BY updated_at DESC, session_id DESC LIMIT $3
  )
  SELECT ${SESSION_COLUMNS}, to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place,
    (SELECT payload FROM event WHERE event.session_id = session.session_id AND event.seq = said_at) AS said
  FROM page JOIN session USING (session_id)
  ORDER BY updated_at DESC, session_id DESC`;

const ARCHIVED = { without: false, only: true, with: null } as const;

interface ListedRow extends SessionRow {
  readonly place: string;
  readonly said: Uint8Array | null;
}

/** A page of one person's sessions and of those that are shared with them, the one changed last first. */
export async function listSessions(
  queries: Queries,
  reader: SessionOwner & { readonly teams: readonly string[] },
  filter: SessionFilter,
  limit: number,
  after?: SessionPlace,
): Promise<SessionPage> {
  const values = [reader.organization, reader.id, limit + 1, after?.updatedAt ?? null, after?.sessionId ?? null];
  const { words, archived, workspace, model, since, until, state, lastStopReason, withWorkers, workersOf, isOwn } = filter;
  const wanted = [
    words,
    ARCHIVED[archived],
    workspace,
    model,
    since ?? null,
    until ?? null,
    state ?? null,
    lastStopReason ?? null,
    withWorkers,
    workersOf || null,
    reader.teams,
    isOwn ?? null,
  ];
  const rows = await queries.query<ListedRow>(LIST, [...values, ...wanted], "list_sessions");
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    sessions: page.map((row) => ({ ...sessionOfRow(row), found: row.said === null ? undefined : textOf(row.said) })),
    end: last === undefined ? undefined : { updatedAt: last.place, sessionId: last.session_id },
  };
}

function textOf(payload: Uint8Array): string | undefined {
  return saidIn(fromBinary(EventSchema, payload).payload as EventPayload);
}
