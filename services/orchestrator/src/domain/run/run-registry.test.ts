import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { PostgresSessionStore } from "../../adapters/postgres/postgres-session-store.ts";
import { beginTestRun } from "../../testing/begin-test-run.ts";
import type { Lease } from "../log/event-log.ts";
import { RunRegistry } from "./run-registry.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
let test: TestDatabase;
let store: PostgresSessionStore;
let runs: RunRegistry;

beforeEach(async () => {
  test = await createTestDatabase(MIGRATIONS);
  store = new PostgresSessionStore(test.database, () => undefined);
  runs = new RunRegistry(store);
});

afterEach(async () => {
  await runs.close();
  await test.drop();
});

/** Work that goes on until it is stopped. @returns what stopped it */
function hold(lease: Lease, takenAt = performance.now()): Promise<unknown> {
  const stopped = Promise.withResolvers<unknown>();
  runs.hold(lease, takenAt, async ({ signal }) => {
    if (!signal.aborted) await once(signal, "abort");
    stopped.resolve(signal.reason);
  });
  return stopped.promise;
}

/** @returns what unlocks the run's row */
async function lock(lease: Lease): Promise<() => Promise<void>> {
  const [locked, unlocked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const locking = test.database.transaction(async (queries) => {
    await queries.query("SELECT FROM run WHERE run_id = $1 FOR UPDATE", [lease.runId]);
    locked.resolve();
    await unlocked.promise;
  });
  await locked.promise;
  return () => {
    unlocked.resolve();
    return locking;
  };
}

/** Seconds that the lease lasts from now on. */
async function leaseLeft(lease: Lease): Promise<number> {
  const [run] = await test.database.query<{ left: number }>(
    "SELECT extract(epoch FROM lease_until - clock_timestamp())::float AS left FROM run WHERE run_id = $1",
    [lease.runId],
  );
  return run!.left;
}

describe("RunRegistry", () => {
  it("stops a run before its lease is over where the renewal gets no answer", async () => {
    const lease = await beginTestRun(store);
    const unlock = await lock(lease);
    expect(await hold(lease)).toMatchObject({ kind: "log_unavailable" });
    expect(await leaseLeft(lease)).toBeGreaterThan(0);
    await unlock();
  });

  it("renews the leases of all runs but one whose row is locked, and that one as soon as it is free", async () => {
    const [locked, free] = [await beginTestRun(store), await beginTestRun(store)];
    await test.database.query("UPDATE run SET lease_until = now() + interval '12 seconds'");
    const unlock = await lock(locked);
    const stopped = [hold(locked), hold(free)];
    await expect.poll(() => leaseLeft(free), { timeout: 10_000, interval: 50 }).toBeGreaterThan(13);
    expect(await leaseLeft(locked)).toBeLessThan(12);
    await unlock();
    await expect.poll(() => leaseLeft(locked), { timeout: 3_000, interval: 50 }).toBeGreaterThan(13);
    for (const { runId } of [locked, free]) runs.cancel(runId);
    expect(await Promise.all(stopped)).toMatchObject([{ kind: "cancelled" }, { kind: "cancelled" }]);
  });

  it("counts a lease from when it was asked for", async () => {
    const lease = await beginTestRun(store);
    expect(await hold(lease, performance.now() - 20_000)).toMatchObject({ kind: "log_unavailable" });
  });

  it("stops a run whose lease somebody else took, and goes on with the others", async () => {
    const [lost, kept] = [await beginTestRun(store), await beginTestRun(store)];
    await test.database.query("UPDATE run SET lease_owner = gen_random_uuid() WHERE run_id = $1", [lost.runId]);
    const others = hold(kept);
    expect(await hold(lost)).toMatchObject({ kind: "lease_lost" });
    runs.cancel(kept.runId);
    expect(await others).toMatchObject({ kind: "cancelled" });
  });
});
