import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Notifications } from "@hlvm/postgres/notifications";
import { EventSchema, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { testLog } from "@hlvm/testing/test-log";
import type { LogSubscription } from "../../domain/log/log-wakeups.ts";
import { PostgresWakeups } from "./postgres-wakeups.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
const EVER = 600_000;
const { signal } = new AbortController();
let test: TestDatabase;
let notifications: Notifications;
let wakeups: PostgresWakeups;

beforeAll(async () => {
  test = await createTestDatabase(MIGRATIONS);
  notifications = await Notifications.open(test.url, "session_event", testLog);
  wakeups = new PostgresWakeups(notifications, testLog);
});

afterAll(async () => {
  await notifications.close();
  await test.drop();
});

const eventsOf = (...sequences: readonly number[]): Event[] =>
  sequences.map((sequence) => create(EventSchema, { sequence: BigInt(sequence) }));
const taken = (subscription: LogSubscription, from: number): number[] | undefined =>
  subscription.take(from)?.map(({ sequence }) => Number(sequence));

/** Somebody else appends: resolves when everybody who follows the session was told. */
async function appendElsewhere(sessionId: string): Promise<void> {
  const witness = wakeups.subscribe(sessionId);
  await test.database.query("SELECT pg_notify('session_event', $1)", [sessionId]);
  await witness.wait(EVER, signal);
  witness.close();
}

describe("PostgresWakeups", () => {
  it("gives what this process appended to everybody who follows, from what they saw last", async () => {
    const sessionId = randomUUID();
    const [one, other, stranger] = [wakeups.subscribe(sessionId), wakeups.subscribe(sessionId), wakeups.subscribe(randomUUID())];
    wakeups.appended(sessionId, eventsOf(1, 2));
    wakeups.appended(sessionId, eventsOf(3));
    await Promise.all([one.wait(EVER, signal), other.wait(EVER, signal)]);
    expect([taken(one, 1), taken(other, 3), taken(stranger, 1)]).toEqual([[1, 2, 3], [3], undefined]);
    expect(taken(one, 1)).toBeUndefined();
  });

  it("gives nothing across events that were not given, so that the log is read", () => {
    const sessionId = randomUUID();
    const [behind, ahead] = [wakeups.subscribe(sessionId), wakeups.subscribe(sessionId)];
    wakeups.appended(sessionId, eventsOf(1, 2));
    wakeups.appended(sessionId, eventsOf(5, 6));
    wakeups.appended(sessionId, eventsOf(7));
    expect([taken(behind, 1), taken(ahead, 5)]).toEqual([undefined, [5, 6, 7]]);
  });

  it("gives nothing out of order, where the answers of two connections overtook each other", () => {
    const sessionId = randomUUID();
    const subscription = wakeups.subscribe(sessionId);
    for (const event of eventsOf(1, 3, 2)) wakeups.appended(sessionId, [event]);
    expect(taken(subscription, 1)).toBeUndefined();
  });

  it("gives up on who is far behind", () => {
    const sessionId = randomUUID();
    const subscription = wakeups.subscribe(sessionId);
    for (let sequence = 1; sequence <= 501; sequence++) wakeups.appended(sessionId, eventsOf(sequence));
    expect(taken(subscription, 1)).toBeUndefined();
  });

  it("has the log read for what others appended, also where this process gave something meanwhile", async () => {
    const sessionId = randomUUID();
    const subscription = wakeups.subscribe(sessionId);
    wakeups.appended(sessionId, eventsOf(1));
    await appendElsewhere(sessionId);
    await subscription.wait(EVER, signal);
    expect(taken(subscription, 1)).toEqual([1]);
    await subscription.wait(EVER, signal);
    expect(taken(subscription, 2)).toBeUndefined();
  });

  it("does not have the log read for notifications of what this process appended itself", async () => {
    const sessionId = randomUUID();
    const cancelled = new AbortController();
    const subscription = wakeups.subscribe(sessionId);
    wakeups.appended(sessionId, eventsOf(1));
    await wakeups.close();
    await appendElsewhere(randomUUID());
    await subscription.wait(EVER, signal);
    expect(taken(subscription, 1)).toEqual([1]);
    const waiting = subscription.wait(EVER, cancelled.signal);
    cancelled.abort(new Error("nobody woke me"));
    await expect(waiting).rejects.toThrow("nobody woke me");
  });
});
