import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import type { Lease } from "../../domain/log/event-log.ts";
import { eventPayload } from "../../domain/log/event-payload.ts";
import { beginTestRun } from "../../testing/begin-test-run.ts";
import { PostgresEventLog } from "./postgres-event-log.ts";
import { PostgresSessionStore } from "./postgres-session-store.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
/** Whoever ends a run waits at the gate when the run's row is written, and before anything else is. */
const GATE = `
  CREATE FUNCTION wait_at_gate(smallint) RETURNS smallint IMMUTABLE LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock(1);
    RETURN $1;
  END
  $$;
  CREATE INDEX gate ON run (wait_at_gate(stop_reason)) WHERE ended_at IS NOT NULL`;

let test: TestDatabase;
let given: Event[];
let log: PostgresEventLog;
let store: PostgresSessionStore;

beforeEach(async () => {
  test = await createTestDatabase(MIGRATIONS);
  given = [];
  log = new PostgresEventLog(test.database, () => undefined);
  store = new PostgresSessionStore(test.database, randomUUID(), (_, events) => given.push(...events));
});

afterEach(() => test.drop());

const end = (lease: Lease, position: number): Promise<void> =>
  log.append({
    lease,
    principal: "user:ada",
    position,
    events: [{ turn: 1, payload: eventPayload("runStopped", {}) }],
    stopReason: StopReason.COMPLETED,
  });

/** Resolves when so many statements wait for a lock. */
async function waiting(statements: number): Promise<void> {
  await expect
    .poll(() => test.database.query("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"))
    .toHaveLength(statements);
}

describe("PostgresSessionStore", () => {
  it("gives those who follow the events with which a run begins, as they read from the log", async () => {
    const { sessionId, ...lease } = await beginTestRun(store);
    expect(given.map(({ payload }) => payload.case)).toEqual(["userMessage", "runStarted"]);
    expect(given).toEqual((await log.read(sessionId, 1)).events);
    await end({ sessionId, ...lease }, 2);
    given = [];
    await beginTestRun(store, { sessionId });
    expect(given.map(({ sequence }) => Number(sequence))).toEqual([4, 5]);
    expect(given).toEqual((await log.read(sessionId, 4)).events);
  });

  it("begins a run at the very moment in which the one before ends, without a deadlock", async () => {
    await test.database.query(GATE);
    const lease = await beginTestRun(store);
    const opened = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const gate = test.database.transaction(async (queries) => {
      await queries.query("SELECT pg_advisory_xact_lock(1)");
      closed.resolve();
      await opened.promise;
    });
    await closed.promise;
    const ending = end(lease, 2);
    await waiting(1);
    const beginning = beginTestRun(store, { sessionId: lease.sessionId });
    await waiting(2);
    opened.resolve();

    const [, next] = await Promise.all([ending, beginning, gate]);
    expect((await log.read(lease.sessionId, 1)).events.map(({ sequence, runId }) => [Number(sequence), runId])).toEqual([
      [1, lease.runId],
      [2, lease.runId],
      [3, lease.runId],
      [4, next.runId],
      [5, next.runId],
    ]);
    expect(await store.find("local", lease.sessionId)).toMatchObject({ runningRunId: next.runId, lastSequence: 5 });
  });
});
