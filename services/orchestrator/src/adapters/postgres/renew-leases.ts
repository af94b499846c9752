import type { Queries } from "@hlvm/postgres/database";
import type { Lease } from "../../domain/log/event-log.ts";
import type { LeaseState } from "../../domain/session/session-store.ts";

/** How long a run is held after it was claimed or renewed. */
export const LEASE = "interval '15 seconds'";

const HELD = `
  FROM run JOIN unnest($1::uuid[], $2::uuid[]) AS mine (run_id, owner) USING (run_id)
  WHERE lease_owner = owner AND lease_until > now() AND ended_at IS NULL`;

/** A row that somebody has locked is not waited for: the leases of all others would wait with it. */
const RENEW = `
  WITH free AS (
    SELECT run_id ${HELD} FOR NO KEY UPDATE OF run SKIP LOCKED
  ), renewed AS (
    UPDATE run SET lease_until = now() + ${LEASE} FROM free WHERE run.run_id = free.run_id RETURNING run.run_id
  )
  SELECT run_id, run_id IN (SELECT run_id FROM renewed) AS is_renewed, cancel_requested_at IS NOT NULL AS cancel_requested ${HELD}`;

/** @returns the state of those that are held, by the id of their run */
export async function renewLeases(queries: Queries, leases: readonly Lease[]): Promise<ReadonlyMap<string, LeaseState>> {
  const rows = await queries.query<{ run_id: string; is_renewed: boolean; cancel_requested: boolean }>(
    RENEW,
    [leases.map((lease) => lease.runId), leases.map((lease) => lease.owner)],
    "renew_leases",
  );
  return new Map(rows.map((row) => [row.run_id, { isRenewed: row.is_renewed, cancelRequested: row.cancel_requested }]));
}
