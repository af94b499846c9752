import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import type { Database } from "@hlvm/postgres/database";
import { createTestDatabase } from "@hlvm/testing/create-test-database";
import { beginTestRun } from "../../testing/begin-test-run.ts";
import { PostgresRunClaims } from "./postgres-run-claims.ts";
import { PostgresSessionStore } from "./postgres-session-store.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
const PARKED = 10_000;

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** How many rows of a table a plan looked at. */
function rowsSeen({ Plans = [], ...node }: PlanNode, table: string): number {
  const own = node["Relation Name"] === table ? node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0) : 0;
  return Plans.reduce((sum, each) => sum + rowsSeen(each, table), own);
}

it("claims what is due among 10,000 runs that wait for a person, without looking through them", async () => {
  const { database, drop } = await createTestDatabase(MIGRATIONS);
  onTestFinished(drop);
  const store = new PostgresSessionStore(database, randomUUID(), () => undefined);
  const { sessionId } = await beginTestRun(store);
  await database.query("UPDATE run SET held_by = NULL, lease_until = 'infinity', started_at = now() - interval '1 hour'");
  await database.query(
    `INSERT INTO session (session_id, organization, owner, title, workspace, git_repository, git_branch, model, stateless, last_seq)
     SELECT gen_random_uuid(), 'local', 'user:ada', 't', '/w', false, '', 'a/b', false, 0 FROM generate_series(1, ${PARKED})`,
  );
  const nobody = "00000000-0000-0000-0000-000000000000";
  await database.query(
    `INSERT INTO run (run_id, session_id, principal, lease_owner, held_by, lease_until, parked_until)
     SELECT gen_random_uuid(), session_id, 'user:ada', $1, $1, 'infinity', now() + interval '1 hour' FROM session WHERE session_id <> $2`,
    [nobody, sessionId],
  );
  const claims = new PostgresRunClaims(database, randomUUID());
  const [woken, cancelled] = await database.query<{ run_id: string }>("SELECT run_id FROM run WHERE parked_until IS NOT NULL LIMIT 2");
  const plans: PlanNode[] = [];
  const explaining = {
    query: async (sql: string, values: unknown[]) => {
      const [row] = await database.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, values);
      plans.push(row!["QUERY PLAN"][0].Plan);
      return [];
    },
  };
  // Whether or not PostgreSQL has gathered figures about the table already.
  for (const figures of ["SELECT 1", "ANALYZE run"]) {
    await database.query(figures);
    await new PostgresRunClaims(explaining as unknown as Database, randomUUID()).claim([], 100);
    expect(rowsSeen(plans.at(-1)!, "run")).toBeLessThan(20);
  }

  expect(await claims.claim([], 100)).toEqual([]);
  await claims.wake([woken!.run_id]);
  await database.query("UPDATE run SET cancel_requested_at = now() WHERE run_id = $1", [cancelled!.run_id]);
  const claimed = await claims.claim([], 100);
  expect(new Set(claimed.map(({ lease }) => lease.runId))).toEqual(new Set([woken!.run_id, cancelled!.run_id]));
  expect(claimed.every(({ wasParked }) => wasParked)).toBe(true);
});

it("sees another replica from its first lease until it leaves, or its lease runs out", async () => {
  const { database, drop } = await createTestDatabase(MIGRATIONS);
  onTestFinished(drop);
  const [own, other, killed] = [randomUUID(), randomUUID(), randomUUID()].map((id) => new PostgresRunClaims(database, id));
  await own!.renew([]);
  expect(await own!.hasOthers()).toBe(false);
  await other!.renew([]);
  expect(await own!.hasOthers()).toBe(true);
  await other!.leave();
  expect(await own!.hasOthers()).toBe(false);
  await killed!.renew([]);
  await database.query("UPDATE replica SET lease_until = now() - interval '1 second'");
  expect(await own!.hasOthers()).toBe(false);
});
