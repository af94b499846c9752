import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Queries } from "@hlvm/postgres/database";
import { searchWords } from "../../domain/log/search-words.ts";
import type { SessionChanges } from "../../domain/session/session-store.ts";

const UPDATE = `
  UPDATE session SET title = coalesce($2, title), archived = coalesce($3, archived),
    title_words = CASE WHEN $2 IS NULL THEN title_words ELSE array_to_tsvector($4::text[]) END
  WHERE session_id = $1`;

/** With the sessions of its workers, and of theirs. A run that begins at this moment waits for this statement, or this statement for it. */
const DELETE = `
  WITH RECURSIVE found AS (SELECT session_id FROM session WHERE session_id = $1 FOR UPDATE),
  tree AS (
    SELECT session_id FROM session WHERE session_id = $1
    UNION ALL SELECT child.session_id FROM tree JOIN session AS child ON child.parent_session_id = tree.session_id
  ),
  state AS (
    SELECT count(*) FILTER (WHERE ended_at IS NULL) AS live, count(*) FILTER (WHERE reconcile_at IS NOT NULL) AS open
    FROM tree JOIN run USING (session_id) WHERE EXISTS (SELECT FROM found)
  ),
  gone AS (DELETE FROM session USING found, state WHERE session.session_id = found.session_id AND live = 0 AND open = 0)
  SELECT live::int, open::int FROM state`;

export async function updateSession(queries: Queries, sessionId: string, { title, archived }: SessionChanges): Promise<void> {
  await queries.query(UPDATE, [sessionId, title ?? null, archived ?? null, searchWords(title ?? "")], "update_session");
}

/** @throws HlvmError `run_in_progress`, `session_unreconciled` */
export async function deleteSession(queries: Queries, sessionId: string): Promise<void> {
  const [state] = await queries.query<{ live: number; open: number }>(DELETE, [sessionId], "delete_session");
  if (state !== undefined && state.live > 0) throw runInProgress(sessionId);
  if (state !== undefined && state.open > 0) throw unreconciled(sessionId);
}

function unreconciled(sessionId: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "session_unreconciled",
    message: `The audit log still lacks what came of some calls of session ${sessionId}.`,
    advice: "Delete it in a minute: they are being added.",
  });
}

export function runInProgress(sessionId: string, cause?: unknown): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "run_in_progress",
    message: `Session ${sessionId} has a run that is still going on.`,
    advice: `Follow it with \`hlvm session watch ${sessionId}\`, and ask again when it has ended; Ctrl-C where it was asked ends it.`,
    cause,
  });
}
