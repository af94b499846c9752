import type { Database } from "@hlvm/postgres/database";
import type { Lease } from "../../domain/log/event-log.ts";
import type { ClaimedRun, RunClaims } from "../../domain/run/run-claims.ts";
import { CLAIMED_AT_ONCE, claimRuns, claimStatement, NOBODY } from "./claim-runs.ts";

/** Three heartbeats: a run whose process is killed goes on within five seconds. */
const LEASE = "interval '3 seconds'";
/** Of a run that this process has begun, until it knows that: until then it is no run that it knows nothing of. */
const BEGINNING = "interval '15 seconds'";

const RENEW = `
  WITH alive AS (
    INSERT INTO replica (replica_id, lease_until) VALUES ($1, now() + ${LEASE})
    ON CONFLICT (replica_id) DO UPDATE SET lease_until = excluded.lease_until
  )
  SELECT run_id, cancel_requested_at IS NOT NULL AS cancel_requested
  FROM run JOIN unnest($2::uuid[], $3::uuid[]) AS mine (run_id, owner) USING (run_id)
  WHERE lease_owner = owner AND ended_at IS NULL`;

const IS_FREE = `ended_at IS NULL AND run_id <> ALL ($2::uuid[]) AND CASE
      WHEN held_by IS NULL THEN lease_until < now()
      WHEN held_by = $1 THEN started_at < now() - ${BEGINNING}
      ELSE NOT EXISTS (SELECT FROM replica WHERE replica_id = held_by AND replica.lease_until > now()) END`;
/** Of room: a worker's parent waits for it in a place of its own, and what is cancelled only has to be ended. */
const NEEDS_NO_ROOM = `(cancel_requested_at IS NOT NULL
      OR EXISTS (SELECT FROM session WHERE session.session_id = run.session_id AND parent_run_id IS NOT NULL))`;
const firstOf = (runs: string, order: string): string =>
  `SELECT run_id FROM run WHERE ${IS_FREE} AND (${runs}) AND ($4 OR ${NEEDS_NO_ROOM}) ORDER BY ${order} LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED`;
/** Each in the words and the order of an index: nobody looks every second through all that wait. */
const NOT_WAITING = `(parked_until IS NULL AND queued_at IS NULL) OR lease_owner <> '${NOBODY}' OR cancel_requested_at IS NOT NULL`;

const CLAIM = claimStatement(`
  left_behind AS (${firstOf(NOT_WAITING, "started_at")}),
  woken AS (${firstOf("parked_until <= now()", "parked_until")}),
  free AS (SELECT run_id FROM left_behind UNION SELECT run_id FROM woken LIMIT $3)`);

const PARK = `
  UPDATE run SET held_by = '${NOBODY}', lease_owner = '${NOBODY}', parked_until = $3
  WHERE run_id = $1 AND lease_owner = $2 AND ended_at IS NULL`;

const WAKE =
  "UPDATE run SET parked_until = now() WHERE run_id = ANY ($1::uuid[]) AND parked_until > now() AND ended_at IS NULL RETURNING run_id";

const DELEGATE = `
  UPDATE run SET delegation = $3 FROM session
  WHERE run_id = $1 AND lease_owner = $2 AND ended_at IS NULL AND session.session_id = run.session_id AND organization = $4
  RETURNING run_id`;

const OTHERS = "SELECT EXISTS (SELECT FROM replica WHERE replica_id <> $1 AND lease_until > now()) AS others";

const RELEASE = `UPDATE run SET held_by = '${NOBODY}' WHERE run_id = $1 AND lease_owner = $2 AND ended_at IS NULL`;

/** Claims in PostgreSQL. Only the database's clock counts: those of the processes may differ, or jump. */
export class PostgresRunClaims implements RunClaims {
  readonly #database: Database;
  readonly #replicaId: string;

  constructor(database: Database, replicaId: string) {
    this.#database = database;
    this.#replicaId = replicaId;
  }

  async renew(held: readonly Lease[]): Promise<ReadonlyMap<string, { readonly cancelRequested: boolean }>> {
    const values = [this.#replicaId, held.map(({ runId }) => runId), held.map(({ owner }) => owner)];
    const rows = await this.#database.query<{ run_id: string; cancel_requested: boolean }>(RENEW, values, "renew_lease");
    return new Map(rows.map(({ run_id: runId, cancel_requested: cancelRequested }) => [runId, { cancelRequested }]));
  }

  claim(known: readonly string[], room: number): Promise<ClaimedRun[]> {
    const hasRoom = room > 0;
    const atMost = hasRoom ? Math.min(room, CLAIMED_AT_ONCE) : CLAIMED_AT_ONCE;
    return claimRuns(this.#database, CLAIM, [this.#replicaId, known, atMost, hasRoom], "claim_runs");
  }

  async release({ runId, owner }: Lease): Promise<void> {
    await this.#database.query(RELEASE, [runId, owner], "release_run");
  }

  async park({ runId, owner }: Lease, until: Date): Promise<void> {
    await this.#database.query(PARK, [runId, owner, until], "park_run");
  }

  async delegate({ runId, owner }: Lease, delegation: string, organization: string): Promise<boolean> {
    return (await this.#database.query(DELEGATE, [runId, owner, delegation, organization], "delegate_run")).length > 0;
  }

  async wake(runIds: readonly string[]): Promise<number> {
    return (await this.#database.query(WAKE, [runIds], "wake_runs")).length;
  }

  /** Whether another replica holds a lease. One that has just started is seen when its first lease is. */
  async hasOthers(): Promise<boolean> {
    const [row] = await this.#database.query<{ others: boolean }>(OTHERS, [this.#replicaId], "other_replicas");
    return row!.others;
  }

  async leave(): Promise<void> {
    await this.#database.query("DELETE FROM replica WHERE replica_id = $1", [this.#replicaId]);
  }

  async forgetGone(): Promise<void> {
    await this.#database.query("DELETE FROM replica WHERE lease_until < now() - interval '1 hour'");
  }
}
