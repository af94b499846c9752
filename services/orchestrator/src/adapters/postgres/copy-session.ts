import type { Queries } from "@hlvm/postgres/database";
import { eventType } from "@hlvm/ndjson/event-type";
import { eventWords, searchWords } from "../../domain/log/search-words.ts";
import type { AttachedFile } from "../../domain/session/attached-files.ts";
import type { SessionFacts } from "../../domain/session/session.ts";
import type { CopiedEvent, Fork } from "../../domain/session/session-store.ts";
import { fileColumns } from "./postgres-attached-files.ts";
import { payloadBytes, wordsOf } from "./event-rows.ts";

const IMPORT = `
  WITH made AS (
    INSERT INTO session (session_id, organization, model, owner, title, title_words, workspace, git_repository, git_branch, stateless, secret_key, last_seq, imported)
    VALUES ($1::uuid, $2, '', $3, $4, array_to_tsvector($5::text[]), $6, $7, $8, false, $9, cardinality($10::uuid[]), true) RETURNING session_id
  ),
  filed AS (
    INSERT INTO attachment (session_id, sha256, media_type, data)
    SELECT session_id, file.sha256, file.media_type, file.data
    FROM made, unnest($16::text[], $17::text[], $18::bytea[]) AS file (sha256, media_type, data)
    ON CONFLICT DO NOTHING
  )
  INSERT INTO event (session_id, seq, run_id, turn, type, payload, principal, at, words)
  SELECT session_id, item.place, item.run_id, item.turn, item.type, item.payload, $3, item.at, ${wordsOf("item.words")}
  FROM made, unnest($10::uuid[], $11::int[], $12::text[], $13::bytea[], $14::timestamptz[], $15::text[])
    WITH ORDINALITY AS item (run_id, turn, type, payload, at, words, place)`;

/** What memory recalled for somebody else stays with them. Marks in the copied events stand for the same secrets as before: the key is copied too. */
const FORK = `
  WITH made AS (
    INSERT INTO session (session_id, organization, model, owner, title, title_words, workspace, git_repository, git_branch, stateless, secret_key, last_seq, imported, forked_from, forked_at)
    SELECT $2::uuid, organization, model, $4, title, title_words, coalesce($9, workspace), git_repository, git_branch, false, secret_key, $3::bigint + 1, imported, session_id, $3
    FROM session WHERE session_id = $1::uuid AND last_seq >= $3 RETURNING session_id
  ),
  copied AS (
    INSERT INTO event (session_id, seq, run_id, turn, type, payload, principal, at, words)
    SELECT made.session_id, seq, run_id, turn, type, payload, principal, at, words
    FROM made, event WHERE event.session_id = $1::uuid AND seq <= $3 AND (type <> 'memory_activity' OR principal = $4)
  ),
  filed AS (
    INSERT INTO attachment (session_id, sha256, media_type, data)
    SELECT made.session_id, sha256, media_type, data FROM made, attachment WHERE attachment.session_id = $1::uuid
  ),
  marked AS (
    INSERT INTO event (session_id, seq, run_id, turn, type, payload, principal, at)
    SELECT session_id, $3 + 1, $5::uuid, 0, $6, $7, $4, $8 FROM made
  )
  SELECT session_id FROM made`;

/** A run that begins at this moment has the session's row first, or finds this event there. */
const OUTSIDE_RUNS = `
  WITH grown AS (
    UPDATE session SET last_seq = last_seq + 1, updated_at = now()
    WHERE session_id = $1::uuid AND NOT EXISTS (SELECT FROM run WHERE run.session_id = $1::uuid AND ended_at IS NULL)
    RETURNING session_id, last_seq
  )
  INSERT INTO event (session_id, seq, run_id, turn, type, payload, principal, at)
  SELECT session_id, last_seq, $2::uuid, $3, $4, $5, $6, $7 FROM grown RETURNING seq`;

const BESIDE_RUNS = `
  WITH grown AS (
    UPDATE session SET last_seq = last_seq + 1, updated_at = now() WHERE session_id = $1::uuid RETURNING session_id, last_seq
  )
  INSERT INTO event (session_id, seq, run_id, turn, type, payload, principal, at)
  SELECT session_id, last_seq, $2::uuid, $3, $4, $5, $6, $7 FROM grown RETURNING seq`;

interface ImportedSession {
  readonly organization: string;
  readonly facts: SessionFacts;
  readonly events: readonly CopiedEvent[];
  readonly files: readonly AttachedFile[];
}

/** Makes a session with events that were read from a file, or nothing. */
export async function insertImported(queries: Queries, { organization, facts, events, files }: ImportedSession): Promise<void> {
  const { sessionId, owner, title, workspace, gitRepository, gitBranch, secretKey } = facts;
  const session = [sessionId, organization, owner, title, searchWords(title), workspace, gitRepository, gitBranch, secretKey];
  await queries.query(IMPORT, [
    ...session,
    events.map(({ runId }) => runId),
    events.map(({ turn }) => turn),
    events.map(({ payload }) => eventType(payload.case)),
    events.map(({ payload }) => payloadBytes(payload)),
    events.map(({ at }) => at),
    events.map(({ payload }) => eventWords(payload)),
    ...fileColumns(files),
  ]);
}

/** @returns false where there is no such session with such an event */
export async function insertFork(
  queries: Queries,
  { parentId, at, forkId, owner, workspace }: Fork,
  marker: CopiedEvent,
): Promise<boolean> {
  const mark = [marker.runId, eventType(marker.payload.case), payloadBytes(marker.payload), marker.at];
  return (await queries.query(FORK, [parentId, forkId, at, owner, ...mark, workspace ?? null], "fork_session")).length > 0;
}

/** @returns false where a run goes on, or there is no such session */
export async function insertOutsideRuns(queries: Queries, sessionId: string, principal: string, event: CopiedEvent): Promise<boolean> {
  const { runId, turn, payload, at } = event;
  const rows = await queries.query(OUTSIDE_RUNS, [sessionId, runId, turn, eventType(payload.case), payloadBytes(payload), principal, at]);
  return rows.length > 0;
}

/** The same also while a run goes on. @returns its sequence; undefined where there is no such session */
export async function insertBesideRuns(
  queries: Queries,
  sessionId: string,
  principal: string,
  event: CopiedEvent,
): Promise<number | undefined> {
  const { runId, turn, payload, at } = event;
  const values = [sessionId, runId, turn, eventType(payload.case), payloadBytes(payload), principal, at];
  const [row] = await queries.query<{ seq: string }>(BESIDE_RUNS, values, "append_beside_runs");
  return row === undefined ? undefined : Number(row.seq);
}
