import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import type { ClaimedRun } from "../../domain/run/run-claims.ts";
import { beginTestRun } from "../../testing/begin-test-run.ts";
import { PostgresRunClaims } from "./postgres-run-claims.ts";
import { PostgresRunQueue } from "./postgres-run-queue.ts";
import { PostgresSessionStore } from "./postgres-session-store.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
const NOBODY = "00000000-0000-0000-0000-000000000000";
let test: TestDatabase;
let store: PostgresSessionStore;
let queue: PostgresRunQueue;
let claims: PostgresRunClaims;

beforeEach(async () => {
  test = await createTestDatabase(MIGRATIONS);
  [{ store, queue, claims }] = [replica()];
});
afterEach(() => test.drop());

function replica() {
  const id = randomUUID();
  return {
    store: new PostgresSessionStore(test.database, id, () => undefined),
    queue: new PostgresRunQueue(test.database, id),
    claims: new PostgresRunClaims(test.database, id),
  };
}

/** @returns the id of a run that waits since now */
async function enqueue(principal: string): Promise<string> {
  const lease = await beginTestRun(store, { principal });
  await queue.put(lease);
  return lease.runId;
}

const idsOf = (runs: readonly ClaimedRun[]): string[] => runs.map(({ lease }) => lease.runId);

describe("the queue of runs", () => {
  it("gives each person a turn, whoever has the fewest runs first, and of one person the oldest", async () => {
    const ofAda = [await enqueue("user:ada"), await enqueue("user:ada"), await enqueue("user:ada")];
    const ofBob = [await enqueue("user:bob"), await enqueue("user:bob")];
    const held = await beginTestRun(store, { principal: "user:bob" });
    expect(new Set(idsOf(await queue.claim([held.runId], 2)))).toEqual(new Set([ofAda[0], ofAda[1]]));
    expect(await queue.count()).toBe(3);
    const known = [held.runId, ofAda[0]!, ofAda[1]!];
    expect(idsOf(await queue.claim(known, 1))).toEqual([ofBob[0]]);
    expect(idsOf(await queue.claim([...known, ofBob[0]!], 1))).toEqual([ofAda[2]]);
    expect(idsOf(await queue.claim([], 20))).toEqual([ofBob[1]]);
    expect(await queue.count()).toBe(0);
  });

  it("hands a run to one process alone, which begins it then", async () => {
    await claims.renew([]);
    const waiting = [await enqueue("user:ada"), await enqueue("user:bob"), await enqueue("user:ada")];
    await test.database.query("UPDATE run SET started_at = now() - interval '1 hour', queued_at = now() - interval '1 hour'");
    const other = replica();
    await other.claims.renew([]);
    const claimed = (await Promise.all([queue.claim([], 20), other.queue.claim([], 20)])).flat();
    expect(idsOf(claimed).toSorted()).toEqual(waiting.toSorted());
    for (const run of claimed) {
      expect(run).toMatchObject({ wasQueued: true, wasParked: false, fruitlessClaims: 0, cancelRequested: false });
      expect(run.ageMilliseconds).toBeLessThan(60_000);
    }
  });

  it("keeps those that wait from whoever looks for runs that were left behind, until somebody wants one cancelled", async () => {
    const [waiting, cancelled] = [await enqueue("user:ada"), await enqueue("user:ada")];
    expect(await claims.claim([], 20)).toEqual([]);
    await test.database.query("UPDATE run SET cancel_requested_at = now() WHERE run_id = $1", [cancelled]);
    const full = 0;
    const [run] = await claims.claim([], full);
    expect(run).toMatchObject({ lease: { runId: cancelled }, cancelRequested: true, wasQueued: true });
    expect(idsOf(await queue.claim([], 20))).toEqual([waiting]);
  });

  it("lets go of a run that a release without a queue has claimed: when its process ends, it is one that was left behind", async () => {
    const waiting = await enqueue("user:ada");
    await test.database.query("UPDATE run SET lease_owner = gen_random_uuid(), held_by = gen_random_uuid()");
    expect(await queue.count()).toBe(0);
    expect(await queue.claim([], 20)).toEqual([]);
    expect(await claims.claim([], 20)).toMatchObject([{ lease: { runId: waiting }, wasQueued: false, fruitlessClaims: 1 }]);
  });

  it("leaves a run alone that such a release has parked since, which goes on as what it is when its answer is there", async () => {
    const waiting = await enqueue("user:ada");
    await test.database.query("UPDATE run SET parked_until = now() + interval '1 hour'");
    expect(await queue.count()).toBe(0);
    expect(await queue.claim([], 20)).toEqual([]);
    await claims.wake([waiting]);
    expect(await claims.claim([], 20)).toMatchObject([{ lease: { runId: waiting }, wasParked: true, wasQueued: false }]);
  });

  it("does nothing with a run that was claimed already", async () => {
    const lease = await beginTestRun(store);
    await test.database.query("UPDATE run SET lease_owner = gen_random_uuid()");
    await queue.put(lease);
    expect(await queue.count()).toBe(0);
  });

  it("claims among 10,000 of a hundred people without looking through them", async () => {
    await test.database.query(
      `INSERT INTO session (session_id, organization, owner, title, workspace, git_repository, git_branch, model, stateless, last_seq)
       SELECT gen_random_uuid(), 'local', 'user:' || n % 100, 't', '/w', false, '', 'a/b', false, 0 FROM generate_series(1, 10000) AS n`,
    );
    await test.database.query(
      `INSERT INTO run (run_id, session_id, principal, lease_owner, held_by, lease_until, queued_at)
       SELECT gen_random_uuid(), session_id, owner, $1, $1, 'infinity', now() FROM session`,
      [NOBODY],
    );
    await test.database.query("ANALYZE run");
    const read = async (): Promise<number> => {
      await test.database.query("SELECT pg_stat_force_next_flush()");
      const [row] = await test.database.query<{ read: number }>(
        "SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_user_tables WHERE relname = 'run'",
      );
      return row!.read;
    };
    const before = await read();
    expect(await queue.claim([], 1)).toHaveLength(1);
    expect(await claims.claim([], 20)).toEqual([]);
    expect((await read()) - before).toBeLessThan(1_000);
  });
});
