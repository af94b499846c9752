import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Notifications } from "@hlvm/postgres/notifications";
import { StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { testLog } from "@hlvm/testing/test-log";
import { PostgresEventLog } from "../../adapters/postgres/postgres-event-log.ts";
import { PostgresSessionStore } from "../../adapters/postgres/postgres-session-store.ts";
import { PostgresWakeups } from "../../adapters/postgres/postgres-wakeups.ts";
import { beginTestRun } from "../../testing/begin-test-run.ts";
import { ada } from "../../testing/test-orchestrator.ts";
import type { Lease } from "../log/event-log.ts";
import { eventPayload } from "../log/event-payload.ts";
import { watchSession } from "./watch-session.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));

/** A process as far as the log is concerned: what it appends, it gives to those who follow there. */
interface Replica {
  readonly notifications: Notifications;
  readonly log: PostgresEventLog;
  readonly store: PostgresSessionStore;
  readonly wakeups: PostgresWakeups;
}

let test: TestDatabase;
let here: Replica;
let elsewhere: Replica;

beforeAll(async () => {
  test = await createTestDatabase(MIGRATIONS);
  [here, elsewhere] = await Promise.all([startReplica(), startReplica()]);
});

afterAll(async () => {
  await Promise.all([here, elsewhere].map(({ notifications }) => notifications.close()));
  await test.drop();
});

async function startReplica(): Promise<Replica> {
  const notifications = await Notifications.open(test.url, "session_event", testLog);
  const wakeups = new PostgresWakeups(notifications, testLog);
  const onAppend = (sessionId: string, events: readonly Event[]): void => wakeups.appended(sessionId, events);
  const [log, store] = [new PostgresEventLog(test.database, onAppend), new PostgresSessionStore(test.database, randomUUID(), onAppend)];
  return { notifications, wakeups, log, store };
}

async function append({ log }: Replica, lease: Lease, position: number, stopReason?: StopReason): Promise<void> {
  const events = [{ turn: 1, payload: eventPayload("messageDelta", { text: `${position}` }) }];
  await log.append({ lease, principal: "user:ada", position, events, stopReason });
}

/** A reader that takes one piece when told to, and is held back meanwhile. */
function slowWatcher(sessionId: string): { readTo: (sequence: number) => Promise<number[]>; leave: () => Promise<unknown> } {
  const { signal } = new AbortController();
  const pieces = watchSession({ principal: ada, sessionId, from: 1, follow: true, signal }, here);
  return {
    readTo: async (sequence) => {
      const seen: number[] = [];
      while (seen.at(-1) !== sequence) seen.push(...((await pieces.next()).value ?? []).map((event) => Number(event.sequence)));
      return seen;
    },
    leave: () => pieces.return(),
  };
}

/** Counts those that were connected: one that was cut before may still be connecting again. */
async function cutListeners(): Promise<number> {
  const cut = await test.database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND (query LIKE 'LISTEN %' OR query LIKE 'SELECT pg_notify(%')`,
  );
  return cut.length;
}

describe("watchSession", () => {
  it.each(["the same replica", "another replica"])(
    "gives a watcher that is held back across a run's end and a resume through %s every event once",
    async (through) => {
      const resuming = through === "the same replica" ? here : elsewhere;
      const first = await beginTestRun(here.store);
      const { sessionId } = first;
      const watcher = slowWatcher(sessionId);
      expect(await watcher.readTo(2)).toEqual([1, 2]);
      await append(here, first, 2);
      expect(await watcher.readTo(3)).toEqual([3]);

      await append(here, first, 3);
      await append(here, first, 4, StopReason.COMPLETED);
      const second = await beginTestRun(resuming.store, { sessionId });
      await append(resuming, second, 2);
      await append(resuming, second, 3, StopReason.COMPLETED);
      const third = await beginTestRun(here.store, { sessionId });
      await append(here, third, 2);

      expect(await watcher.readTo(12)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12]);
      await watcher.leave();
    },
  );

  it("sees what another replica appends before it looks by itself", async () => {
    const lease = await beginTestRun(elsewhere.store);
    const watcher = slowWatcher(lease.sessionId);
    await watcher.readTo(2);
    let position = 2;
    const began = performance.now();
    for (; position < 22; position++) {
      await append(elsewhere, lease, position);
      expect(await watcher.readTo(position + 1)).toEqual([position + 1]);
    }
    // Twenty looks by itself would take 20 s.
    expect(performance.now() - began).toBeLessThan(10_000);
    await watcher.leave();
  });

  it("goes on where the connections that listen are cut, and sees what was appended meanwhile", async () => {
    const lease = await beginTestRun(elsewhere.store);
    const watcher = slowWatcher(lease.sessionId);
    await watcher.readTo(2);
    for (let position = 2; position < 5; position++) {
      await vi.waitUntil(async () => (await cutListeners()) > 0);
      await append(elsewhere, lease, position);
      expect(await watcher.readTo(position + 1)).toEqual([position + 1]);
    }
    await watcher.leave();
  });

  it("looks by itself every second where a notification was lost", async () => {
    const lease = await beginTestRun(elsewhere.store);
    const watcher = slowWatcher(lease.sessionId);
    await watcher.readTo(2);
    await append({ ...elsewhere, log: new PostgresEventLog(test.database, () => undefined) }, lease, 2);
    const began = performance.now();
    expect(await watcher.readTo(3)).toEqual([3]);
    expect(performance.now() - began).toBeLessThan(2_500);
    await watcher.leave();
  });
});
