import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Database } from "@hlvm/postgres/database";
import { StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { createTestDatabase } from "@hlvm/testing/create-test-database";
import { pauseModel } from "../testing/pause-model.ts";
import { ada, startTestOrchestrator, type TestOrchestrator } from "../testing/test-orchestrator.ts";

const MIGRATIONS = fileURLToPath(new URL("../../migrations", import.meta.url));

/** Says that nine bytes follow, and two do. */
const NO_MESSAGE = "0a094142";
/** Field 4000 of the event, a message: what a newer version may have added to its payload. */
const OF_A_NEWER_VERSION = "82fa0103 0a0178".replace(" ", "");
const DAMAGED = [
  ["no message", NO_MESSAGE],
  ["empty", ""],
] as const;

let test: TestOrchestrator;
let database: Database;
let drop: () => Promise<void>;

beforeEach(async () => {
  const made = await createTestDatabase(MIGRATIONS);
  ({ database, drop } = made);
  test = await startTestOrchestrator(made.url);
});

afterEach(async () => {
  await test.stop();
  await drop();
});

/** Overwrites one entry, as a broken disk or somebody with a console would. */
async function overwrite(sessionId: string, sequence: number, hex: string): Promise<void> {
  await database.query("ALTER TABLE event DISABLE TRIGGER event_is_append_only");
  await database.query("UPDATE event SET payload = decode($3, 'hex') WHERE session_id = $1 AND seq = $2", [sessionId, sequence, hex]);
  await database.query("ALTER TABLE event ENABLE TRIGGER event_is_append_only");
}

async function readAll(sessionId: string): Promise<{ readonly events: Event[]; readonly failure: unknown }> {
  const events: Event[] = [];
  try {
    const watching = test.orchestrator.client.watch({ sessionId, follow: false }, await test.orchestrator.as(ada));
    for await (const response of watching) events.push(...response.events);
  } catch (thrown) {
    return { events, failure: fromConnectError(thrown) };
  }
  return { events, failure: undefined };
}

const listed = async (): Promise<string[]> => {
  const { sessions } = await test.orchestrator.client.listSessions({}, await test.orchestrator.as(ada));
  return sessions.map(({ sessionId }) => sessionId);
};

describe.each(DAMAGED)("a log with an entry that is %s", (_, hex) => {
  it("can be watched up to there, and says where it is broken; others are as they were", async () => {
    test.answers(["fine"]);
    const broken = await test.run();
    const other = await test.run();
    await overwrite(broken.sessionId, 3, hex);
    const { events, failure } = await readAll(broken.sessionId);
    expect(events.map(({ sequence }) => sequence)).toEqual([1n, 2n]);
    expect(failure).toMatchObject({
      reason: "event_unreadable",
      message: expect.stringContaining(`Entry 3 in the log of session ${broken.sessionId}`),
      advice: expect.stringContaining("new session"),
    });
    expect((await readAll(other.sessionId)).events).toEqual(other.events);
    expect(await listed()).toEqual(expect.arrayContaining([broken.sessionId, other.sessionId]));
    expect((await test.run("and now?", { sessionId: other.sessionId })).stopped.reason).toBe(StopReason.COMPLETED);
  });

  it("is not gone on with: the run that needs it says why", async () => {
    test.answers(["fine"]);
    const { sessionId } = await test.run();
    await overwrite(sessionId, 1, hex);
    const { stopped } = await test.run("and now?", { sessionId });
    expect(stopped).toMatchObject({
      reason: StopReason.ERROR,
      message: expect.stringContaining("Entry 1 in the log"),
      advice: expect.stringContaining("new session"),
    });
  });

  it("ends a run that has to be taken over, once, and harms no other one", async () => {
    const release = pauseModel(test.fake.behaviour);
    const isDelta = ({ payload }: Event): boolean => payload.case === "messageDelta";
    const [broken, other] = [await test.ask("one"), await test.ask("two")];
    for (const { sessionId, sequence } of [broken, other]) await test.watch(sessionId, sequence, isDelta);
    await test.orchestrator.stop("SIGKILL");
    await overwrite(broken.sessionId, Number(broken.sequence), hex);
    test.orchestrator = await test.startProcess();
    const isStopped = ({ payload }: Event): boolean => payload.case === "runStopped";
    const events = await test.watch(broken.sessionId, broken.sequence + 1n, isStopped);
    expect(events.at(-1)!.payload.value).toMatchObject({ reason: StopReason.ERROR, message: expect.stringContaining("Entry 1") });
    expect(events.filter(({ payload }) => payload.case === "runTakenOver")).toEqual([]);
    release();
    test.answers(["Done."]);
    const gone = await test.watch(other.sessionId, other.sequence, isStopped);
    expect(gone.at(-1)!.payload.value).toMatchObject({ reason: StopReason.COMPLETED });
  });
});

describe("an event that only a newer version knows", () => {
  it("keeps its bytes on the way to who watches, and holds nothing up", async () => {
    test.answers(["fine"]);
    const { sessionId, events } = await test.run();
    const thinking = events.find(({ payload }) => payload.case === "thinking")!;
    await overwrite(sessionId, Number(thinking.sequence), OF_A_NEWER_VERSION);
    const read = await readAll(sessionId);
    expect(read.failure).toBeUndefined();
    expect(read.events).toHaveLength(events.length);
    const unknown = read.events.find(({ sequence }) => sequence === thinking.sequence)!;
    expect(unknown.payload.case).toBeUndefined();
    expect(unknown.$unknown).toMatchObject([{ no: 4000 }]);
    expect((await test.run("and now?", { sessionId })).stopped.reason).toBe(StopReason.COMPLETED);
  });

  it("is no end of a log from which somebody removed entries", async () => {
    test.answers(["fine"]);
    const { sessionId, events } = await test.run();
    await database.query("DELETE FROM event WHERE session_id = $1 AND seq = 3", [sessionId]);
    expect((await readAll(sessionId)).events.map(({ sequence }) => sequence)).toEqual(
      events.map(({ sequence }) => sequence).filter((sequence) => sequence !== 3n),
    );
  });
});
