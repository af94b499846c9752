import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { PostgresEventLog } from "../../adapters/postgres/postgres-event-log.ts";
import { PostgresSessionStore } from "../../adapters/postgres/postgres-session-store.ts";
import { beginTestRun } from "../../testing/begin-test-run.ts";
import { DeltaWriter } from "./delta-writer.ts";
import type { Append, EventLog, Lease } from "./event-log.ts";
import { eventPayload } from "./event-payload.ts";
import { RunJournal } from "./run-journal.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
const delta = (text: string) => eventPayload("messageDelta", { text });
const effect = (text: string) => eventPayload("assistantMessage", { text });

let test: TestDatabase;
let log: PostgresEventLog;
let store: PostgresSessionStore;
/** The statements that several runs shared. */
let statements: (readonly Append[])[];
/** What a statement goes through; as it is unless a test says otherwise. */
let pass: (write: () => Promise<readonly boolean[]>) => Promise<readonly boolean[]>;
let deltas: DeltaWriter;
let failures: unknown[];

beforeAll(async () => {
  test = await createTestDatabase(MIGRATIONS);
  log = new PostgresEventLog(test.database, () => undefined);
  store = new PostgresSessionStore(test.database, randomUUID(), () => undefined);
});

beforeEach(() => {
  statements = [];
  failures = [];
  pass = (write) => write();
  const appendEach: EventLog["appendEach"] = (appends) => pass(() => (statements.push(appends), log.appendEach(appends)));
  deltas = new DeltaWriter({ appendEach });
});

afterAll(() => test.drop());

interface Run {
  readonly lease: Lease;
  readonly journal: RunJournal;
}

async function begin(): Promise<Run> {
  const lease = await beginTestRun(store);
  const onFailure = (cause: unknown): void => void failures.push(cause);
  return { lease, journal: new RunJournal({ log, deltas, lease, principal: "user:ada", position: 2, onFailure }) };
}

/** The texts that a run added, in the order of their sequence, which has no gap. */
async function textsOf({ lease }: Run): Promise<string[]> {
  const { events } = await log.read(lease.sessionId, 1);
  expect(events.map(({ sequence }) => Number(sequence))).toEqual(events.map((_, index) => index + 1));
  return events.slice(2).map(({ payload }) => (payload.value as { text: string }).text);
}

/** @returns what releases the lock */
async function lock(table: string, { lease }: Run): Promise<() => Promise<void>> {
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const locking = test.database.transaction(async (queries) => {
    await queries.query(`SELECT FROM ${table} WHERE session_id = $1 FOR UPDATE`, [lease.sessionId]);
    held.resolve();
    await released.promise;
  });
  await held.promise;
  return () => {
    released.resolve();
    return locking;
  };
}

describe("DeltaWriter", () => {
  it("writes the deltas of all runs in one statement, the next one 50 ms later", async () => {
    const runs = await Promise.all(Array.from({ length: 20 }, begin));
    for (const { journal } of runs) journal.appendDelta(1, delta("a"));
    await expect.poll(() => statements, { interval: 1 }).toHaveLength(1);
    const began = performance.now();
    for (const { journal } of runs) for (const text of ["b", "c"]) journal.appendDelta(1, delta(text));
    await expect.poll(() => statements, { interval: 1 }).toHaveLength(2);
    expect(performance.now() - began).toBeGreaterThan(45);
    for (const run of runs) await expect.poll(() => textsOf(run)).toEqual(["a", "bc"]);
    expect(statements.map((appends) => appends.map(({ events }) => events.length))).toEqual([Array(20).fill(1), Array(20).fill(1)]);
  });

  it("does not wait where much has come", async () => {
    const run = await begin();
    const long = "x".repeat(500_000);
    run.journal.appendDelta(1, delta("a"));
    run.journal.appendDelta(1, delta(long));
    expect(statements).toHaveLength(1);
    await expect.poll(() => textsOf(run)).toEqual(["a", long]);
  });

  it("refuses the deltas of a run that lost its lease, and writes those of the others in the same statement", async () => {
    const [lost, kept, ended] = [await begin(), await begin(), await begin()];
    await test.database.query("UPDATE run SET lease_owner = gen_random_uuid() WHERE run_id = $1", [lost.lease.runId]);
    await test.database.query("UPDATE run SET ended_at = now(), stop_reason = 1 WHERE run_id = $1", [ended.lease.runId]);
    for (const { journal } of [lost, kept, ended]) journal.appendDelta(1, delta("a"));
    await expect.poll(() => failures).toMatchObject([{ reason: "lease_lost" }, { reason: "lease_lost" }]);
    expect(statements.map((appends) => appends.length)).toEqual([3]);
    expect(await Promise.all([lost, kept, ended].map(textsOf))).toEqual([[], ["a"], []]);
  });

  it.each(["run", "session"])("holds up only the run whose %s is locked", async (table) => {
    const [locked, free] = [await begin(), await begin()];
    const release = await lock(table, locked);
    for (const { journal } of [locked, free]) journal.appendDelta(1, delta("a"));
    await expect.poll(() => textsOf(free)).toEqual(["a"]);
    free.journal.appendDelta(1, delta("b"));
    await expect.poll(() => textsOf(free)).toEqual(["a", "b"]);
    expect(await textsOf(locked)).toEqual([]);
    await release();
    await expect.poll(() => textsOf(locked)).toEqual(["a"]);
    expect(failures).toEqual([]);
  });

  it("keeps a run's order: what comes later waits for the deltas that are on their way", async () => {
    const run = await begin();
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    pass = async (write) => {
      begun.resolve();
      await released.promise;
      return write();
    };
    run.journal.appendDelta(1, delta("a"));
    await begun.promise;
    const appended = run.journal.append(1, effect("b"));
    run.journal.appendDelta(1, delta("c"));
    expect(await textsOf(run)).toEqual([]);
    released.resolve();
    await appended;
    await expect.poll(() => textsOf(run)).toEqual(["a", "b", "c"]);
  });

  it("keeps a run's order: deltas wait for what the run is writing by itself, and are then written", async () => {
    const [run, other] = [await begin(), await begin()];
    const release = await lock("session", run);
    const appended = run.journal.append(1, effect("a"));
    await new Promise((resolve) => setImmediate(resolve));
    for (const { journal } of [run, other]) journal.appendDelta(1, delta("b"));
    await expect.poll(() => textsOf(other)).toEqual(["b"]);
    await release();
    await appended;
    await expect.poll(() => textsOf(run)).toEqual(["a", "b"]);
    expect(statements.map((appends) => appends.map(({ lease }) => lease))).toEqual([[other.lease], [run.lease]]);
    expect(failures).toEqual([]);
  });

  it("leaves deltas that wait to what the run writes by itself, at once", async () => {
    const run = await begin();
    run.journal.appendDelta(1, delta("a"));
    await run.journal.append(1, effect("b"));
    expect(await textsOf(run)).toEqual(["a", "b"]);
    expect(statements).toEqual([]);
  });

  it("writes nothing twice where the statement's answer was lost", async () => {
    const runs = await Promise.all([begin(), begin()]);
    pass = async (write) => {
      await write();
      throw new HlvmError({ code: "unavailable", reason: "database_unreachable", message: "gone" });
    };
    for (const { journal } of runs) journal.appendDelta(1, delta("a"));
    await expect.poll(() => statements).toHaveLength(1);
    await Promise.all(runs.map(({ journal }) => journal.append(1, effect("b"))));
    for (const run of runs) expect(await textsOf(run)).toEqual(["a", "b"]);
    expect(failures).toEqual([]);
  });
});
