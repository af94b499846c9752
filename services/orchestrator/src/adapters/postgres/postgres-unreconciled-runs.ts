import type { Database } from "@hlvm/postgres/database";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { UnreconciledRun, UnreconciledRuns } from "../../domain/run/unreconciled-runs.ts";
import { EVENT_COLUMNS, eventOfRow, type EventRow } from "./event-rows.ts";

const CLAIMED_AT_ONCE = 20;
/** Longer than the 24 h for which a delegation counts. */
const KEPT = "interval '25 hours'";

const CLAIM = `
  WITH due AS (
    SELECT run_id FROM run WHERE reconcile_at <= now()
    ORDER BY reconcile_at LIMIT ${CLAIMED_AT_ONCE} FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE run SET reconcile_attempts = reconcile_attempts + 1,
    reconcile_at = now() + make_interval(secs => least(300, 10 * 2 ^ least(reconcile_attempts, 10)))
  FROM due, session WHERE run.run_id = due.run_id AND session.session_id = run.session_id
  RETURNING run.run_id, run.session_id, coalesce(work_session_id, run.session_id) AS work_session_id, delegation, reconcile_attempts - 1 AS attempts`;

const CALLS = `
  SELECT ${EVENT_COLUMNS} FROM event
  WHERE session_id = $1 AND run_id = $2 AND type IN ('assistant_message', 'tool_end') ORDER BY seq`;

interface DueRow extends Record<string, unknown> {
  readonly run_id: string;
  readonly session_id: string;
  readonly work_session_id: string;
  readonly delegation: string | null;
  readonly attempts: number;
}

/** The runs' own rows are the queue: a run is in it from the statement that ends it on. */
export class PostgresUnreconciledRuns implements UnreconciledRuns {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async claim(): Promise<UnreconciledRun[]> {
    const rows = await this.#database.query<DueRow>(CLAIM);
    return rows.map(({ run_id: runId, session_id: sessionId, work_session_id: workspaceSessionId, delegation, attempts }) => ({
      runId,
      sessionId,
      workspaceSessionId,
      delegation: delegation ?? undefined,
      attempts,
    }));
  }

  async events({ sessionId, runId }: UnreconciledRun): Promise<Event[]> {
    const rows = await this.#database.query<EventRow>(CALLS, [sessionId, runId]);
    return rows.map((row) => eventOfRow(sessionId, row));
  }

  async done({ runId }: UnreconciledRun): Promise<void> {
    await this.#database.query("UPDATE run SET reconcile_at = NULL, delegation = NULL WHERE run_id = $1", [runId]);
  }

  async giveUp(): Promise<number> {
    const given = await this.#database.query(
      `UPDATE run SET reconcile_at = NULL, delegation = NULL
       WHERE reconcile_at IS NOT NULL AND ended_at < now() - ${KEPT} RETURNING run_id`,
    );
    return given.length;
  }
}
