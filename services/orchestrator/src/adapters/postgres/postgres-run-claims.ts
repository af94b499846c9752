import type { Database } from "@hlvm/postgres/database";
import type { Lease } from "../../domain/log/event-log.ts";
import type { ClaimedRun, RunClaims } from "../../domain/run/run-claims.ts";
import { SESSION_COLUMNS, sessionOfRow, type SessionRow } from "./session-rows.ts";

const CLAIMED_AT_ONCE = 20;
/** Three heartbeats: a run whose process is killed goes on within five seconds. */
const LEASE = "interval '3 seconds'";
/** Of a run that this process has begun, until it knows that: until then it is no run that it knows nothing of. */
const BEGINNING = "interval '15 seconds'";
/** No process has this id. */
const NOBODY = "00000000-0000-0000-0000-000000000000";

const RENEW = `
  WITH alive AS (
    INSERT INTO replica (replica_id, lease_until) VALUES ($1, now() + ${LEASE})
    ON CONFLICT (replica_id) DO UPDATE SET lease_until = excluded.lease_until
  )
  SELECT run_id, cancel_requested_at IS NOT NULL AS cancel_requested
  FROM run JOIN unnest($2::uuid[], $3::uuid[]) AS mine (run_id, owner) USING (run_id)
  WHERE lease_owner = owner AND ended_at IS NULL`;

/**
 * A parked run's owner is nobody. Where it has an owner, a release that does not know parked runs has claimed it since, and has
 * left the time as it was: it may have taken the answer, so that nobody would wake the run.
 */
const IS_PARKED = `(parked_until IS NOT NULL AND lease_owner = '${NOBODY}')`;

const IS_FREE = `ended_at IS NULL AND run_id <> ALL ($2::uuid[]) AND CASE
      WHEN held_by IS NULL THEN lease_until < now()
      WHEN held_by = $1 THEN started_at < now() - ${BEGINNING}
      ELSE NOT EXISTS (SELECT FROM replica WHERE replica_id = held_by AND replica.lease_until > now()) END`;
/** Each in the words and the order of an index: nobody looks every second through all that wait for a person. */
const UNPARKED = `parked_until IS NULL OR lease_owner <> '${NOBODY}' OR cancel_requested_at IS NOT NULL`;
const FIRST_UNPARKED = `
    SELECT run_id FROM run WHERE ${IS_FREE} AND (${UNPARKED}) ORDER BY started_at LIMIT ${CLAIMED_AT_ONCE} FOR NO KEY UPDATE SKIP LOCKED`;
const FIRST_WOKEN = `
    SELECT run_id FROM run WHERE ${IS_FREE} AND parked_until <= now() ORDER BY parked_until LIMIT ${CLAIMED_AT_ONCE} FOR NO KEY UPDATE SKIP LOCKED`;

/** What a run has come to is counted in answers and results: the events in between show progress and are none. */
const CLAIM = `
  WITH unparked AS (${FIRST_UNPARKED}
  ), woken AS (${FIRST_WOKEN}
  ), free AS (
    SELECT run_id FROM unparked UNION SELECT run_id FROM woken LIMIT ${CLAIMED_AT_ONCE}
  ), counted AS (
    SELECT run_id, ${IS_PARKED} AS was_parked, (SELECT count(*) FROM event WHERE event.session_id = run.session_id AND event.run_id = run.run_id
      AND type IN ('assistant_message', 'tool_end')) AS progress
    FROM free JOIN run USING (run_id)
  ), claimed AS (
    UPDATE run SET held_by = $1, lease_owner = gen_random_uuid(), lease_until = 'infinity', claimed_progress = progress, parked_until = NULL,
      fruitless_claims = CASE WHEN was_parked THEN fruitless_claims WHEN progress = claimed_progress THEN fruitless_claims + 1 ELSE 0 END
    FROM counted WHERE run.run_id = counted.run_id
    RETURNING run.run_id, run.session_id, lease_owner, principal, delegation, appended, fruitless_claims, was_parked,
      cancel_requested_at IS NOT NULL AS cancel_requested, (extract(epoch FROM now() - started_at) * 1000)::float AS age
  )
  SELECT ${SESSION_COLUMNS}, claimed.*,
    (SELECT coalesce(max(turn), 0) FROM event WHERE event.session_id = claimed.session_id AND event.run_id = claimed.run_id) AS turn,
    (SELECT free_reservations(array_agg(run_id)) FROM claimed) AS freed
  FROM claimed JOIN session USING (session_id)`;

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

interface ClaimedRow extends SessionRow {
  readonly run_id: string;
  readonly lease_owner: string;
  readonly principal: string;
  readonly delegation: string | null;
  readonly appended: string;
  readonly fruitless_claims: number;
  readonly was_parked: boolean;
  readonly cancel_requested: boolean;
  readonly age: number;
  readonly turn: number;
}

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

  async claim(known: readonly string[]): Promise<ClaimedRun[]> {
    const rows = await this.#database.query<ClaimedRow>(CLAIM, [this.#replicaId, known], "claim_runs");
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
    }));
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
