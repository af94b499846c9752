import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { DecidingStep, Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { valuesOf } from "../../testing/event-values.ts";
import { say } from "../../testing/say.ts";
import { ada, startTestOrchestrator, type TestOrchestrator } from "../../testing/test-orchestrator.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
const AT_A_TIME = 8;
const CALLS = 12;

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

describe("the calls of a turn", () => {
  it("are decided on when there is room to run them, so that no grant grows old while it waits", async () => {
    const calls = Array.from({ length: CALLS }, (_, index) => ({ id: `${index}`, tool: "read_file", arguments: { path: `${index}` } }));
    test.fake.behaviour.generate = (_, call) => (call === 1 ? say("", calls) : say("done"));
    const released = Promise.withResolvers<void>();
    test.fake.behaviour.execute = async function* () {
      await released.promise;
      yield { event: { case: "result", value: { success: true } } };
    };
    const { sessionId, sequence } = await test.ask("Read.");
    const { decided, executed } = test.fake.seen;
    await expect.poll(() => executed.length).toBe(AT_A_TIME);
    expect(decided).toHaveLength(AT_A_TIME);
    released.resolve();
    expect(valuesOf(await test.watch(sessionId, sequence), "toolEnd")).toHaveLength(CALLS);
    expect(decided).toHaveLength(CALLS);
  });

  it("do not keep a cancelled run from ending when the audit log does not answer", { timeout: 10_000 }, async () => {
    const reached = Promise.withResolvers<void>();
    test.fake.behaviour.execute = async function* () {
      yield { event: { case: "result", value: { success: true } } };
    };
    test.fake.behaviour.recordOutcome = () => {
      reached.resolve();
      return new Promise(() => undefined);
    };
    test.fake.behaviour.generate = (request) =>
      request.messages.some((message) => message.parts.some(({ part }) => part.case === "toolResult"))
        ? say("", [{ id: "2", tool: "read_file", arguments: { path: "b" } }])
        : say("", [{ id: "1", tool: "read_file", arguments: { path: "a" } }]);
    const { sessionId, runId, sequence } = await test.ask("Read.");
    await reached.promise;
    await test.orchestrator.client.cancelRun({ sessionId, runId }, await test.orchestrator.as(ada));
    const [end] = valuesOf(await test.watch(sessionId, sequence), "runStopped");
    expect(end!.reason).toBe(StopReason.USER_CANCELLED);
  });

  it("that were allowed and did not run any more are told to the audit log", async () => {
    test.fake.seen.outcomes.length = 0;
    test.fake.behaviour.recordOutcome = () => undefined;
    test.fake.behaviour.generate = () => say("", [{ id: "1", tool: "read_file", arguments: { path: "a" } }]);
    const deciding = Promise.withResolvers<void>();
    const usual = test.fake.behaviour.decide;
    const decided = Promise.withResolvers<void>();
    test.fake.behaviour.decide = async (request) => {
      deciding.resolve();
      await decided.promise;
      return usual(request);
    };
    const { sessionId, runId, sequence } = await test.ask("Read.");
    await deciding.promise;
    await test.orchestrator.client.cancelRun({ sessionId, runId }, await test.orchestrator.as(ada));
    await test.watch(sessionId, sequence);
    decided.resolve();
    await expect.poll(() => test.fake.seen.outcomes).toMatchObject([{ runId, status: OutcomeStatus.CANCELLED }]);
  });

  it("ask nobody any more when the run is cancelled", async () => {
    test.fake.behaviour.generate = () => say("", [{ id: "1", tool: "read_file", arguments: { path: "a" } }]);
    const approvalId = "22222222-2222-4222-8222-222222222222";
    test.fake.behaviour.decide = () => ({ decision: Decision.ASK, step: DecidingStep.MODE, approval: { approvalId, tool: "read_file" } });
    const waiting = Promise.withResolvers<void>();
    test.fake.behaviour.awaitApproval = (_, context) => {
      waiting.resolve();
      return new Promise((_resolve, reject) => context.signal.addEventListener("abort", () => reject(context.signal.reason as Error)));
    };
    const { sessionId, runId, sequence } = await test.ask("Read.");
    await waiting.promise;
    await test.orchestrator.client.cancelRun({ sessionId, runId }, await test.orchestrator.as(ada));
    expect(valuesOf(await test.watch(sessionId, sequence), "runStopped")).toMatchObject([{ reason: StopReason.USER_CANCELLED }]);
    await expect.poll(() => test.fake.seen.withdrawn).toContain(runId);
  });
});
