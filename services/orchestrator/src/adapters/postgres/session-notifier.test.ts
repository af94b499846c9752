import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createLog } from "@hlvm/log/create-log";
import { Notifications } from "@hlvm/postgres/notifications";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { testLog } from "@hlvm/testing/test-log";
import { eventPayload } from "../../domain/log/event-payload.ts";
import { beginTestRun } from "../../testing/begin-test-run.ts";
import { PostgresEventLog } from "./postgres-event-log.ts";
import { PostgresSessionStore } from "./postgres-session-store.ts";
import { SessionNotifier } from "./session-notifier.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
let test: TestDatabase;
let sending: Notifications;
let listening: Notifications;
let received: string[] = [];

beforeAll(async () => {
  test = await createTestDatabase(MIGRATIONS);
  sending = await Notifications.open(test.url, "session_event", testLog);
  listening = await Notifications.open(test.url, "session_event", testLog);
  listening.onPayload((payload) => received.push(payload));
});

beforeEach(() => (received = []));

afterAll(async () => {
  await Promise.all([sending.close(), listening.close()]);
  await test.drop();
});

/** Notifications come in the order of their commits: resolves with all that were sent before. */
async function receivedSoFar(): Promise<string[]> {
  const last = randomUUID();
  await test.database.query("SELECT pg_notify('session_event', $1)", [last]);
  await expect.poll(() => received.at(-1)).toBe(last);
  return received.slice(0, -1);
}

describe("SessionNotifier", () => {
  it("is what notifies: the transactions that append do not", async () => {
    const log = new PostgresEventLog(test.database, () => undefined);
    const lease = await beginTestRun(new PostgresSessionStore(test.database, randomUUID(), () => undefined));
    const events = [{ turn: 1, payload: eventPayload("messageDelta", { text: "a" }) }];
    await log.append({ lease, principal: "user:ada", position: 2, events });
    expect(await receivedSoFar()).toEqual([]);
  });

  it("sends one notification for many appends, and one statement for many sessions", async () => {
    const sent: (readonly string[])[] = [];
    const notifier = new SessionNotifier({ notify: (ids) => (sent.push(ids), sending.notify(ids)) }, testLog);
    const sessions = [randomUUID(), randomUUID(), randomUUID()];
    for (let append = 0; append < 300; append++) notifier.grew(sessions[append % 3]!);
    await expect.poll(() => received).toHaveLength(3);
    expect((await receivedSoFar()).toSorted()).toEqual(sessions.toSorted());
    expect(sent).toEqual([sessions]);
  });

  it("sends what grew while the one before was on its way, and all of it before it closes", async () => {
    const notifier = new SessionNotifier(sending, testLog);
    const [first, second] = [randomUUID(), randomUUID()];
    notifier.grew(first);
    const flushed = notifier.flush();
    notifier.grew(second);
    await Promise.all([flushed, notifier.flush()]);
    expect(await receivedSoFar()).toEqual([first, second]);
  });

  it("sends nothing while there is no other replica", async () => {
    const sent: (readonly string[])[] = [];
    const notifier = new SessionNotifier({ notify: (ids) => (sent.push(ids), sending.notify(ids)) }, testLog);
    notifier.hasOthers = false;
    notifier.grew(randomUUID());
    await notifier.flush();
    expect(sent).toEqual([]);
    notifier.hasOthers = true;
    const grown = randomUUID();
    notifier.grew(grown);
    await notifier.flush();
    expect(await receivedSoFar()).toEqual([grown]);
  });

  it("says once that it cannot send, and fails nobody", async () => {
    const lines: string[] = [];
    const log = createLog("test", "warn", { write: (line) => void lines.push(line) });
    const cut = await Notifications.open(test.url, "session_event", testLog);
    const notifier = new SessionNotifier(cut, log);
    await cut.close();
    for (let index = 0; index < 3; index++) {
      notifier.grew(randomUUID());
      await notifier.flush();
    }
    expect(lines).toEqual([expect.stringContaining("they look every second")]);
    expect(await receivedSoFar()).toEqual([]);
  });
});
