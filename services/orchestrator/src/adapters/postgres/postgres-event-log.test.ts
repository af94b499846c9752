import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Database } from "@hlvm/postgres/database";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { testLog } from "@hlvm/testing/test-log";
import type { Append, Lease } from "../../domain/log/event-log.ts";
import { eventPayload } from "../../domain/log/event-payload.ts";
import { beginTestRun } from "../../testing/begin-test-run.ts";
import { payloadBytes } from "./event-rows.ts";
import { PostgresEventLog } from "./postgres-event-log.ts";
import { PostgresRunClaims } from "./postgres-run-claims.ts";
import { PostgresSessionStore } from "./postgres-session-store.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
let test: TestDatabase;
let log: PostgresEventLog;
let store: PostgresSessionStore;

beforeAll(async () => {
  test = await createTestDatabase(MIGRATIONS);
  log = new PostgresEventLog(test.database, () => undefined);
  store = new PostgresSessionStore(test.database, randomUUID(), () => undefined);
});

afterAll(() => test.drop());

const delta = (text: string) => ({ turn: 1, payload: eventPayload("messageDelta", { text }) });

const appendOf = (lease: Lease, position: number, texts: readonly string[], stopReason?: StopReason): Append => ({
  lease,
  principal: "user:ada",
  position,
  events: texts.map(delta),
  stopReason,
});
/** Without a lease, in a transaction that takes the next number from the session's row. */
async function appendAsPerson({ sessionId, runId }: Lease): Promise<void> {
  await test.database.query(
    `WITH grown AS (UPDATE session SET last_seq = last_seq + 1 WHERE session_id = $1 RETURNING last_seq)
     INSERT INTO event (session_id, seq, run_id, turn, type, payload, principal, at)
     SELECT $1, last_seq, $2, 0, 'user_message', $3, 'user:bob', now() FROM grown`,
    [sessionId, runId, payloadBytes(eventPayload("userMessage", { text: "meanwhile" }))],
  );
}

const eventsOf = async (sessionId: string, from: number) => (await log.read(sessionId, from)).events;
const sequences = async (sessionId: string): Promise<number[]> => (await eventsOf(sessionId, 1)).map((event) => Number(event.sequence));

describe("PostgresEventLog", () => {
  it("numbers events without gaps and gives them back as they were, NUL included", async () => {
    const lease = await beginTestRun(store);
    await log.append(appendOf(lease, 2, ["a\u0000b", "c"]));
    await log.append(appendOf(lease, 4, ["d"]));
    const events = await eventsOf(lease.sessionId, 3);
    expect(events.map((event) => [Number(event.sequence), event.turn, event.payload.value])).toMatchObject([
      [3, 1, { text: "a\u0000b" }],
      [4, 1, { text: "c" }],
      [5, 1, { text: "d" }],
    ]);
    expect(events[0]).toMatchObject({ sessionId: lease.sessionId, runId: lease.runId, principal: "user:ada" });
  });

  it("finds an append there whose answer was lost, instead of writing it twice", async () => {
    const lease = await beginTestRun(store);
    const append = appendOf(lease, 2, ["a"]);
    await log.append(append);
    await log.append(append);
    expect(await sequences(lease.sessionId)).toEqual([1, 2, 3]);
    const last = appendOf(lease, 3, ["b"], StopReason.COMPLETED);
    await log.append(last);
    await log.append(last);
    expect(await sequences(lease.sessionId)).toEqual([1, 2, 3, 4]);
  });

  it("says that an append may be given again where PostgreSQL gave up on it, and takes it then", async () => {
    const lease = await beginTestRun(store);
    // With this isolation a change that came in between ends the statement, as a deadlock does.
    const isolation = encodeURIComponent("-c default_transaction_isolation=repeatable\\ read");
    const strict = new Database(`${test.url}&options=${isolation}`, testLog);
    const strictLog = new PostgresEventLog(strict, () => undefined);
    const append = appendOf(lease, 2, ["a"]);
    const appending = await test.database.transaction(async (queries) => {
      await queries.query("UPDATE session SET title = 'other' WHERE session_id = $1", [lease.sessionId]);
      const appended = strictLog.append(append).catch((cause: unknown) => cause);
      await expect
        .poll(() => test.database.query("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"))
        .toHaveLength(1);
      return { appended };
    });
    expect(await appending.appended).toMatchObject({ code: "unavailable", reason: "write_conflict" });
    await strictLog.append(append);
    expect(await sequences(lease.sessionId)).toEqual([1, 2, 3]);
    await strict.close();
  });

  it("fences an owner that was replaced", async () => {
    const lease = await beginTestRun(store);
    const claimed = (await new PostgresRunClaims(test.database, randomUUID()).claim([], 100)).find(
      (run) => run.lease.runId === lease.runId,
    );
    await expect(log.append(appendOf(lease, 2, ["late"]))).rejects.toMatchObject({ reason: "lease_lost" });
    await expect(log.append(appendOf(lease, 2, ["late"], StopReason.COMPLETED))).rejects.toMatchObject({ reason: "lease_lost" });
    await log.append(appendOf(claimed!.lease, 2, ["mine"]));
    expect((await eventsOf(lease.sessionId, 3)).map((event) => event.payload.value)).toMatchObject([{ text: "mine" }]);
  });

  it("lets two owners race without a gap, a double or a lost event", async () => {
    const lease = await beginTestRun(store);
    const stranger = { ...lease, owner: randomUUID() };
    const tries = await Promise.allSettled(
      [lease, stranger, lease, stranger].map((owner, index) => log.append(appendOf(owner, 2, [`${index}`, "x"]))),
    );
    expect(tries.filter((one) => one.status === "rejected").length).toBeGreaterThanOrEqual(2);
    expect(await sequences(lease.sessionId)).toEqual([1, 2, 3, 4]);
  });

  it("lets people append to the session meanwhile, without a gap, and still finds an append whose answer was lost", async () => {
    const lease = await beginTestRun(store);
    const append = (position: number): Append => appendOf(lease, position, ["run", "run"]);
    await Promise.all([log.append(append(2)), ...Array.from({ length: 5 }, () => appendAsPerson(lease))]);
    await Promise.all([log.append(append(4)), ...Array.from({ length: 5 }, () => appendAsPerson(lease))]);
    await appendAsPerson(lease);
    await log.append(append(4));
    const events = await eventsOf(lease.sessionId, 1);
    expect(events.map(({ sequence }) => Number(sequence))).toEqual(Array.from({ length: 17 }, (_, index) => index + 1));
    expect(events.filter(({ principal }) => principal === "user:bob")).toHaveLength(11);
  });

  it("writes nothing after a run's end", async () => {
    const lease = await beginTestRun(store);
    await log.append(appendOf(lease, 2, ["end"], StopReason.COMPLETED));
    await expect(log.append(appendOf(lease, 3, ["after"]))).rejects.toMatchObject({ reason: "lease_lost" });
    expect(await store.find("local", lease.sessionId)).toMatchObject({
      runningRunId: "",
      lastStopReason: StopReason.COMPLETED,
      lastSequence: 3,
    });
  });

  it("reads a long log in pieces of about a megabyte, none lost", async () => {
    const lease = await beginTestRun(store);
    for (let index = 0; index < 5; index++) await log.append(appendOf(lease, index + 2, ["x".repeat(400_000)]));
    const seen: number[] = [];
    for (let hasMore = true; hasMore;) {
      const page = await log.read(lease.sessionId, seen.length + 1);
      expect(page.events.length).toBeLessThanOrEqual(5);
      seen.push(...page.events.map((event) => Number(event.sequence)));
      hasMore = page.hasMore;
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(await log.read(lease.sessionId, 8)).toEqual({ events: [], hasMore: false });
  });

  it("refuses that an entry is changed", async () => {
    const lease = await beginTestRun(store);
    const change = test.database.query("UPDATE event SET principal = 'user:eve' WHERE session_id = $1", [lease.sessionId]);
    await expect(change).rejects.toThrow("append-only");
  });
});

describe("PostgresSessionStore", () => {
  it("lets one run go on in a session at a time", async () => {
    const lease = await beginTestRun(store);
    await expect(beginTestRun(store, { sessionId: lease.sessionId })).rejects.toMatchObject({
      code: "failed_precondition",
      reason: "run_in_progress",
    });
    expect(await sequences(lease.sessionId)).toEqual([1, 2]);
    await log.append(appendOf(lease, 2, ["end"], StopReason.COMPLETED));
    await beginTestRun(store, { sessionId: lease.sessionId });
    expect(await sequences(lease.sessionId)).toEqual([1, 2, 3, 4, 5]);
  });
});
