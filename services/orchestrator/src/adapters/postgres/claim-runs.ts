import type { Queries } from "@hlvm/postgres/database";
import type { ClaimedRun } from "../../domain/run/run-claims.ts";
import { SESSION_COLUMNS, sessionOfRow, type SessionRow } from "./session-rows.ts";

export const CLAIMED_AT_ONCE = 20;
/** No process has this id: it owns and holds runs that wait. */
export const NOBODY = "00000000-0000-0000-0000-000000000000";

/**
 * The owner of a run that waits, for a person or for room, is nobody. Where it has an owner, a release that does not know such
 * runs has claimed it since, and has left the times as they were: it may have taken the answer, so that nobody would wake the run.
 */
const IS_OF_NOBODY = `lease_owner = '${NOBODY}'`;
/** Not where such a release has parked it since. */
export const IS_QUEUED = `queued_at IS NOT NULL AND parked_until IS NULL AND ${IS_OF_NOBODY}`;

interface ClaimedRow extends SessionRow {
  readonly run_id: string;
  readonly lease_owner: string;
  readonly principal: string;
  readonly delegation: string | null;
  readonly appended: string;
  readonly fruitless_claims: number;
  readonly was_parked: boolean;
  readonly was_queued: boolean;
  readonly cancel_requested: boolean;
  readonly age: number;
  readonly turn: number;
}

/**
 * The statement that claims runs. What a run has come to is counted in answers and results: the events in between show progress
 * and are none. A run that waited for room begins now.
 * @param chosen named queries, of which `free` has the ids of the runs; the process that claims them is the first value
 */
export function claimStatement(chosen: string): string {
  return `
  WITH RECURSIVE ${chosen}, counted AS (
    SELECT run_id, ${IS_OF_NOBODY} AND parked_until IS NOT NULL AS was_parked, ${IS_QUEUED} AS was_queued,
      (SELECT count(*) FROM event WHERE event.session_id = run.session_id AND event.run_id = run.run_id
        AND type IN ('assistant_message', 'tool_end')) AS progress
    FROM free JOIN run USING (run_id)
  ), claimed AS (
    UPDATE run SET held_by = $1, lease_owner = gen_random_uuid(), lease_until = 'infinity', claimed_progress = progress, parked_until = NULL,
      queued_at = NULL, started_at = CASE WHEN was_queued THEN now() ELSE started_at END,
      fruitless_claims = CASE WHEN was_parked OR was_queued THEN fruitless_claims WHEN progress = claimed_progress THEN fruitless_claims + 1 ELSE 0 END
    FROM counted WHERE run.run_id = counted.run_id
    RETURNING run.run_id, run.session_id, lease_owner, principal, delegation, appended, fruitless_claims, was_parked, was_queued,
      cancel_requested_at IS NOT NULL AS cancel_requested, (extract(epoch FROM now() - started_at) * 1000)::float AS age
  )
  SELECT ${SESSION_COLUMNS}, claimed.*,
    (SELECT coalesce(max(turn), 0) FROM event WHERE event.session_id = claimed.session_id AND event.run_id = claimed.run_id) AS turn,
    (SELECT free_reservations(array_agg(run_id)) FROM claimed) AS freed
  FROM claimed JOIN session USING (session_id)`;
}

/** @param name under which the statement is prepared */
export async function claimRuns(queries: Queries, statement: string, values: unknown[], name: string): Promise<ClaimedRun[]> {
  const rows = await queries.query<ClaimedRow>(statement, values, name);
  return rows.map((row) => ({
    lease: { sessionId: row.session_id, runId: row.run_id, owner: row.lease_owner },
    session: sessionOfRow(row),
    principal: row.principal,
    delegation: row.delegation ?? undefined,
    appended: Number(row.appended),
    turn: row.turn,
    ageMilliseconds: row.age,
    cancelRequested: row.cancel_requested,
    fruitlessClaims: row.fruitless_claims,
    wasParked: row.was_parked,
    wasQueued: row.was_queued,
  }));
}
