import type { Database } from "@hlvm/postgres/database";
import type { Lease } from "../../domain/log/event-log.ts";
import type { ClaimedRun } from "../../domain/run/run-claims.ts";
import type { RunQueue } from "../../domain/run/run-queue.ts";
import { CLAIMED_AT_ONCE, claimRuns, claimStatement, IS_QUEUED, NOBODY } from "./claim-runs.ts";

const IS_WAITING = `ended_at IS NULL AND ${IS_QUEUED}`;

const PUT = `
  UPDATE run SET held_by = '${NOBODY}', lease_owner = '${NOBODY}', queued_at = now()
  WHERE run_id = $1 AND lease_owner = $2 AND ended_at IS NULL`;

/** One person after the other, found in the index: nobody looks through all that wait. */
const PEOPLE = `
  person AS (
    (SELECT principal FROM run WHERE ${IS_WAITING} ORDER BY principal LIMIT 1)
    UNION ALL
    SELECT next.principal FROM person
    CROSS JOIN LATERAL (SELECT principal FROM run WHERE ${IS_WAITING} AND principal > person.principal ORDER BY principal LIMIT 1) AS next
  )`;

const CLAIM = claimStatement(`${PEOPLE},
  held AS (SELECT principal, count(*) AS runs FROM run WHERE run_id = ANY ($2::uuid[]) GROUP BY principal),
  next AS (
    SELECT waiting.run_id FROM person
    LEFT JOIN held USING (principal)
    CROSS JOIN LATERAL (
      SELECT run_id, queued_at, row_number() OVER (ORDER BY queued_at) AS place
      FROM run WHERE ${IS_WAITING} AND principal = person.principal ORDER BY queued_at LIMIT $3
    ) AS waiting
    ORDER BY coalesce(runs, 0) + place, queued_at LIMIT $3
  ), free AS (
    SELECT run_id FROM run WHERE run_id IN (SELECT run_id FROM next) AND ${IS_WAITING} FOR NO KEY UPDATE SKIP LOCKED
  )`);

const COUNT = `SELECT count(*)::int AS waiting FROM run WHERE ${IS_WAITING}`;

/** The queue in PostgreSQL, which all processes share. */
export class PostgresRunQueue implements RunQueue {
  readonly #database: Database;
  readonly #replicaId: string;

  constructor(database: Database, replicaId: string) {
    this.#database = database;
    this.#replicaId = replicaId;
  }

  async put({ runId, owner }: Lease): Promise<void> {
    await this.#database.query(PUT, [runId, owner], "queue_run");
  }

  claim(known: readonly string[], room: number): Promise<ClaimedRun[]> {
    return claimRuns(this.#database, CLAIM, [this.#replicaId, known, Math.min(room, CLAIMED_AT_ONCE)], "claim_queued_runs");
  }

  async count(): Promise<number> {
    const [row] = await this.#database.query<{ waiting: number }>(COUNT, [], "count_queued_runs");
    return row!.waiting;
  }
}
