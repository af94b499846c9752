import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { say } from "./testing/say.ts";
import { startTestOrchestrator, type TestOrchestrator } from "./testing/test-orchestrator.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));
let database: TestDatabase;
let test: TestOrchestrator;

beforeAll(async () => {
  database = await createTestDatabase(MIGRATIONS);
  test = await startTestOrchestrator(database.url);
});

afterAll(async () => {
  await test.stop();
  await database.drop();
});

const cases = (events: readonly Event[]): (string | undefined)[] => events.map((event) => event.payload.case);

describe("a run", () => {
  it("asks, calls tools and answers, and its log says everything in order", async () => {
    test.fake.behaviour.generate = (_, call) =>
      call === 1 ? say("I look.", [{ tool: "read_file", arguments: { path: "a" } }, { tool: "list_files", arguments: {} }]) : say("It is a test.");
    const { sessionId, sequence } = await test.ask("What is this?");
    const events = await test.watch(sessionId, sequence);
    console.log(events.map((event) => `${event.sequence} ${event.turn} ${event.payload.case}`).join("\n"));
    expect(cases(events).at(-1)).toBe("runStopped");
  });
});
