import { once } from "node:events";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { PostgresRunClaims } from "../../adapters/postgres/postgres-run-claims.ts";
import { PostgresRunQueue } from "../../adapters/postgres/postgres-run-queue.ts";
import { PostgresSessionStore } from "../../adapters/postgres/postgres-session-store.ts";
import { beginTestRun } from "../../testing/begin-test-run.ts";
import type { Lease } from "../log/event-log.ts";
import type { ClaimedRun } from "./run-claims.ts";
import { RunRegistry } from "./run-registry.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
let test: TestDatabase;
let one: Replica;
let other: Replica;
let begun: string[];

interface Replica {
  readonly store: PostgresSessionStore;
  readonly claims: PostgresRunClaims;
  readonly runs: RunRegistry;
}

function replica(maximum = 100): Replica {
  const id = randomUUID();
  const claims = new PostgresRunClaims(test.database, id);
  const queue = new PostgresRunQueue(test.database, id);
  const runs = new RunRegistry({ claims, queue, maximum, onRoom: () => undefined });
  return { claims, store: new PostgresSessionStore(test.database, id, () => undefined), runs };
}

beforeEach(async () => {
  begun = [];
  test = await createTestDatabase(MIGRATIONS);
  [one, other] = [replica(), replica()];
  await Promise.all([one.runs.renew(), other.runs.renew()]);
});
afterEach(async () => {
  for (const runId of begun) one.runs.cancel(runId);
  await Promise.all([one.runs.close(), other.runs.close()]);
  await test.drop();
});

/** Begins a run that goes on until it is stopped. @returns its lease, and what stopped it */
async function begin({ store, runs }: Replica): Promise<{ lease: Lease; stopped: Promise<unknown> }> {
  const lease = await beginTestRun(store);
  begun.push(lease.runId);
  const stopped = Promise.withResolvers<unknown>();
  await runs.begin(
    lease,
    () => Promise.resolve(),
    async ({ signal }) => {
      if (!signal.aborted) await once(signal, "abort");
      stopped.resolve(signal.reason);
    },
  );
  return { lease, stopped: stopped.promise };
}

/** Takes over what is free. @returns the runs */
async function takeOver({ runs }: Replica): Promise<ClaimedRun[]> {
  const taken: ClaimedRun[] = [];
  await runs.takeOver((run) => Promise.resolve(void taken.push(run)));
  return taken;
}

const endLease = (): Promise<unknown> => test.database.query("UPDATE replica SET lease_until = now() - interval '1 second'");
/** Lets runs have begun long ago. */
const age = (): Promise<unknown> => test.database.query("UPDATE run SET started_at = now() - interval '1 minute'");
const runIds = (runs: readonly ClaimedRun[]): string[] => runs.map(({ lease }) => lease.runId);

describe("the runs of a process", () => {
  it("are left alone by others while its lease lasts, and claimed by one of them when it does not", async () => {
    const all = [await begin(one), await begin(one), await begin(one)];
    expect(await takeOver(other)).toEqual([]);
    await endLease();
    const third = replica();
    await Promise.all([other.runs.renew(), third.runs.renew()]);
    const taken = (await Promise.all([takeOver(other), takeOver(third)])).flat();
    expect(runIds(taken).toSorted()).toEqual(all.map(({ lease }) => lease.runId).toSorted());
    await one.runs.renew();
    for (const { stopped } of all) expect(await stopped).toMatchObject({ kind: "lease_lost" });
  });

  it("go on after its lease had run out where nobody claimed them", async () => {
    const { lease, stopped } = await begin(one);
    await endLease();
    await one.runs.renew();
    expect(await takeOver(one)).toEqual([]);
    expect(await takeOver(other)).toEqual([]);
    one.runs.cancel(lease.runId);
    expect(await stopped).toMatchObject({ kind: "cancelled" });
  });

  it("are its own again where it knows nothing of them, as after an answer that was lost", async () => {
    const lease = await beginTestRun(one.store);
    await age();
    expect(await takeOver(other)).toEqual([]);
    const [run] = await takeOver(one);
    expect(run).toMatchObject({
      lease: { runId: lease.runId, sessionId: lease.sessionId },
      session: { workspace: "/w", owner: "user:ada" },
      principal: "user:ada",
      delegation: "signed",
      appended: 2,
      turn: 0,
      cancelRequested: false,
      fruitlessClaims: 1,
    });
    expect(run!.lease.owner).not.toBe(lease.owner);
  });

  it("are not claimed by a look at the database that began before they did", async () => {
    await beginTestRun(one.store);
    expect(await takeOver(one)).toEqual([]);
  });

  it("are known while they are held by a newer claim, though an older one of the same run has ended", async () => {
    const known: (readonly string[])[] = [];
    const lease = await beginTestRun(one.store);
    await age();
    const [run] = await takeOver(one);
    const claims = { claim: (ids: readonly string[]) => (known.push(ids), Promise.resolve([{ ...run!, lease: { ...lease } }])) };
    const runs = new RunRegistry({
      claims: Object.assign(Object.create(one.claims) as PostgresRunClaims, claims),
      queue: new PostgresRunQueue(test.database, randomUUID()),
      maximum: 100,
      onRoom: () => undefined,
    });
    const [older, newer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await runs.takeOver(() => older.promise);
    await runs.takeOver(() => newer.promise);
    older.resolve();
    await older.promise;
    await runs.takeOver(() => Promise.resolve());
    expect(known).toEqual([[], [lease.runId], [lease.runId]]);
    newer.resolve();
  });

  it("are not claimed while they begin", async () => {
    const lease = { sessionId: randomUUID(), runId: randomUUID(), owner: randomUUID() };
    const began = one.runs.begin(
      lease,
      async () => {
        await beginTestRun(one.store, { lease });
        expect(await takeOver(one)).toEqual([]);
      },
      () => Promise.resolve(),
    );
    await began;
  });

  it("are cancelled where they turn up although beginning them failed", async () => {
    const lease = { sessionId: randomUUID(), runId: randomUUID(), owner: randomUUID() };
    const lost = async (): Promise<void> => {
      await beginTestRun(one.store, { lease });
      throw new Error("the answer was lost");
    };
    await expect(one.runs.begin(lease, lost, () => Promise.resolve())).rejects.toThrow("the answer was lost");
    await age();
    const reasons: unknown[] = [];
    await one.runs.takeOver((_, { signal }) => Promise.resolve(void reasons.push(signal.reason)));
    expect(reasons).toMatchObject([{ kind: "cancelled" }]);
  });

  it("can be claimed at once when it releases them, by others alone", async () => {
    const { lease } = await begin(one);
    await one.claims.release(lease);
    expect(runIds(await takeOver(other))).toEqual([lease.runId]);
  });

  it("can be claimed at once when it leaves", async () => {
    const { lease } = await begin(one);
    await one.claims.leave();
    expect(runIds(await takeOver(other))).toEqual([lease.runId]);
  });

  it("are all claimed where the table of leases was emptied, and none is lost", async () => {
    const { lease, stopped } = await begin(one);
    await test.database.query("DELETE FROM replica");
    await other.runs.renew();
    expect(runIds(await takeOver(other))).toEqual([lease.runId]);
    await one.runs.renew();
    expect(await stopped).toMatchObject({ kind: "lease_lost" });
  });

  it("are stopped when somebody wants that, through whichever process", async () => {
    const { lease, stopped } = await begin(one);
    await other.store.requestCancel("local", lease.sessionId, lease.runId);
    await one.runs.renew();
    expect(await stopped).toMatchObject({ kind: "cancelled" });
  });

  it("are handed over when it closes, and it takes no other", async () => {
    const { stopped } = await begin(one);
    const closing = one.runs.close();
    await beginTestRun(one.store);
    expect(await takeOver(one)).toEqual([]);
    expect(await stopped).toMatchObject({ kind: "handed_over" });
    await closing;
  }, 10_000);

  it("are claimed as far as there is room, and those that need none: workers, and what somebody wants cancelled", async () => {
    const [oldest, next, cancelled] = [await beginTestRun(one.store), await beginTestRun(one.store), await beginTestRun(one.store)];
    const { sessionId, runId } = oldest;
    const origin = { parentSessionId: sessionId, parentRunId: runId, workspaceSessionId: sessionId, depth: 1, agentType: "explore" };
    const worker = await beginTestRun(one.store, { worker: origin });
    await one.store.requestCancel("local", cancelled.sessionId, cancelled.runId);
    await endLease();
    const small = replica(1);
    await small.runs.renew();
    const running = new Map<string, () => void>();
    const goOn = (run: ClaimedRun): Promise<void> => new Promise((end) => running.set(run.lease.runId, end));
    while ((await small.runs.takeOver(goOn)) > 0);
    expect([...running.keys()].toSorted()).toEqual([oldest.runId, worker.runId, cancelled.runId].toSorted());
    expect(small.runs.isFull).toBe(true);
    for (const end of running.values()) end();
    await new Promise(setImmediate);
    expect(small.runs.isFull).toBe(false);
    expect(await takeOver(small)).toMatchObject([{ lease: { runId: next.runId } }]);
  });

  it("of a release before this one are claimed when their own leases have run out", async () => {
    const lease = await beginTestRun(one.store);
    await test.database.query("UPDATE run SET held_by = NULL, lease_until = now() + interval '15 seconds'");
    expect(await takeOver(one)).toEqual([]);
    await test.database.query("UPDATE run SET lease_until = now() - interval '1 second'");
    expect(runIds(await takeOver(one))).toEqual([lease.runId]);
  });

  it("tell how often they were claimed without having come any further", async () => {
    const lease = await beginTestRun(one.store);
    await age();
    const counts: number[] = [];
    for (let claim = 0; claim < 3; claim++) counts.push((await takeOver(one))[0]!.fruitlessClaims);
    await test.database.query(
      "INSERT INTO event SELECT session_id, 3, run_id, 1, 'tool_end', '', principal, now() FROM run WHERE run_id = $1",
      [lease.runId],
    );
    counts.push((await takeOver(one))[0]!.fruitlessClaims);
    expect(counts).toEqual([1, 2, 3, 0]);
  });
});
