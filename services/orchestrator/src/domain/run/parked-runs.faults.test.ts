import { fileURLToPath } from "node:url";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Decision, DecidingStep } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Database } from "@hlvm/postgres/database";
import { createTestDatabase } from "@hlvm/testing/create-test-database";
import { valuesOf } from "../../testing/event-values.ts";
import { readCall } from "../../testing/read-call.ts";
import { runCallsOnce } from "../../testing/run-calls-once.ts";
import type { SaidCall } from "../../testing/say.ts";
import { ada, startTestOrchestrator, type TestOrchestrator } from "../../testing/test-orchestrator.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
const DONE = { success: true, content: "one line", summary: "one line" };

let test: TestOrchestrator;
let database: Database;
let drop: () => Promise<void>;

beforeEach(async () => {
  const created = await createTestDatabase(MIGRATIONS);
  ({ database, drop } = created);
  test = await startTestOrchestrator(created.url, { HLVM_PARK_SECONDS: "1" });
});
afterEach(async () => {
  await test.stop();
  await drop();
});

const shellCall = (command: string): SaidCall => ({ id: command, tool: "shell_exec", arguments: { command } });

/** Policy asks a person before each command of the shell. @returns how to answer, which policy tells of */
function askBeforeCommands(expiresAt = new Date(Date.now() + 60_000)) {
  const { behaviour, seen } = test.fake;
  const { decide } = behaviour;
  const approvalId = crypto.randomUUID();
  const answer = Promise.withResolvers<Decision>();
  let waiting = 0;
  behaviour.decide = (request) =>
    request.call!.tool === "shell_exec"
      ? { decision: Decision.ASK, approval: { approvalId, callId: request.call!.callId, expiresAt: timestampFromDate(expiresAt) } }
      : decide(request);
  behaviour.awaitApproval = async (_, { signal }) => {
    waiting++;
    const gone = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => gone.reject(signal.reason as Error));
    try {
      const decision = await Promise.race([answer.promise, gone.promise]);
      return {
        decision,
        step: DecidingStep.APPROVAL,
        ...(decision === Decision.ALLOW ? { grant: "granted" } : { reason: "Bob denied it." }),
      };
    } finally {
      waiting--;
    }
  };
  return {
    seen,
    waiting: () => waiting,
    /** Where policy is to tell of it, or is silent. */
    answer: (decision: Decision, runId?: string) => {
      answer.resolve(decision);
      if (runId !== undefined) test.fake.tellAnswered(runId);
    },
  };
}

async function untilParked(runId: string): Promise<void> {
  const parked = "SELECT FROM run WHERE run_id = $1 AND parked_until > now() AND ended_at IS NULL";
  await expect.poll(() => database.query(parked, [runId]), { timeout: 10_000 }).toHaveLength(1);
}

/** @param calls of its next turns, one each */
async function parkedRun(calls: SaidCall[] = []) {
  const policy = askBeforeCommands();
  test.answers(["I run it.", [shellCall("make")]], ...calls.map((call): Parameters<TestOrchestrator["answers"]>[number] => ["", [call]]), [
    "Done.",
  ]);
  const ran = runCallsOnce(test.fake.behaviour, () => Promise.resolve(DONE));
  const asked = await test.ask("q");
  await untilParked(asked.runId);
  return { ...asked, ...policy, ran };
}

describe("a run that only waits for a person", () => {
  it("is held by nobody, and goes on at the answer as if it had never been put aside", async () => {
    const { sessionId, runId, sequence, answer, waiting, ran } = await parkedRun();
    await expect.poll(waiting).toBe(0);
    answer(Decision.ALLOW, runId);
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "toolEnd")).toMatchObject([{ result: DONE }]);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, turns: 2, toolCalls: 1 }]);
    expect(valuesOf(events, "runTakenOver")).toEqual([]);
    expect(ran).toHaveLength(1);
  });

  it("is put aside again at its next question, soon after an answer", async () => {
    const { sessionId, runId, sequence, answer, ran } = await parkedRun([shellCall("make test")]);
    const { behaviour } = test.fake;
    const { awaitApproval } = behaviour;
    const next = Promise.withResolvers<ReturnType<typeof askBeforeCommands>>();
    behaviour.awaitApproval = (...given) => {
      next.resolve(askBeforeCommands());
      return awaitApproval(...given);
    };
    answer(Decision.ALLOW, runId);
    await expect.poll(() => ran).toHaveLength(1);
    await untilParked(runId);
    (await next.promise).answer(Decision.ALLOW, runId);
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, toolCalls: 2 }]);
    expect(valuesOf(events, "runTakenOver")).toEqual([]);
  });

  it("goes on at once with a message that interrupts it, and its question is withdrawn", async () => {
    const { sessionId, runId, sequence, ran, seen } = await parkedRun();
    const { orchestrator } = test;
    await orchestrator.client.sendMessage({ sessionId, text: "leave that", interrupt: true }, await orchestrator.as(ada));
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "toolEnd")).toMatchObject([{ result: { errorCode: "cancelled" } }]);
    expect(valuesOf(events, "userMessage").map(({ text }) => text)).toEqual(["q", "leave that"]);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "Done." }]);
    expect(ran).toEqual([]);
    await expect.poll(() => seen.withdrawn).toContain(runId);
  });

  it("is told no as well", async () => {
    const { sessionId, runId, sequence, answer, ran } = await parkedRun();
    answer(Decision.DENY, runId);
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "toolEnd")).toMatchObject([{ result: { success: false, content: expect.stringContaining("Bob denied it") } }]);
    expect(ran).toEqual([]);
  });

  it("goes on in the next process, which is told of answers that came while there was none", async () => {
    const { sessionId, runId, sequence, answer, ran } = await parkedRun();
    await test.orchestrator.stop("SIGKILL");
    answer(Decision.ALLOW, runId);
    test.orchestrator = await test.startProcess();
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
    expect(ran).toHaveLength(1);
  });

  it("is cancelled without an answer", async () => {
    const { sessionId, runId, sequence, ran } = await parkedRun();
    const { headers } = await test.orchestrator.as(ada);
    await test.orchestrator.client.cancelRun({ sessionId, runId }, { headers });
    expect(valuesOf(await test.watch(sessionId, sequence), "runStopped")).toMatchObject([{ reason: StopReason.USER_CANCELLED }]);
    expect(ran).toEqual([]);
    expect(test.fake.seen.withdrawn).toEqual([runId]);
  });

  it("goes on by itself when the question has expired", async () => {
    // Long enough for the run to be put aside on a slow machine.
    const { answer } = askBeforeCommands(new Date(Date.now() + 8_000));
    test.answers(["", [shellCall("make")]], ["Done."]);
    const { sessionId, runId, sequence } = await test.ask("q");
    await untilParked(runId);
    answer(Decision.DENY);
    expect(valuesOf(await test.watch(sessionId, sequence), "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
  });

  it("goes on also where its answer was told before it was put aside", async () => {
    const policy = askBeforeCommands();
    test.answers(["I run it.", [shellCall("make")]], ["Done."]);
    const ran = runCallsOnce(test.fake.behaviour, () => Promise.resolve(DONE));
    const { sessionId, runId, sequence } = await test.ask("q");
    await expect.poll(policy.waiting).toBe(1);
    test.fake.tellAnswered(runId);
    // It does not hear the answer before it is put aside.
    test.fake.behaviour.awaitApproval = () => Promise.resolve({ decision: Decision.ALLOW, step: DecidingStep.APPROVAL, grant: "granted" });
    expect(valuesOf(await test.watch(sessionId, sequence), "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
    expect(ran).toHaveLength(1);
  });

  it("is held where a secret in its arguments would be lost", async () => {
    const secret = `ghp_${"a1B2".repeat(9)}`;
    const policy = askBeforeCommands();
    test.answers(["", [shellCall(`login ${secret}`)]], ["Done."]);
    const ran: string[] = [];
    runCallsOnce(test.fake.behaviour, (_, argumentsJson) => (ran.push(argumentsJson), DONE));
    const { sessionId, runId, sequence } = await test.ask("q");
    await expect.poll(policy.waiting).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await database.query("SELECT FROM run WHERE run_id = $1 AND parked_until IS NOT NULL", [runId])).toEqual([]);
    policy.answer(Decision.ALLOW, runId);
    expect(valuesOf(await test.watch(sessionId, sequence), "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
    expect(ran).toEqual([expect.stringContaining(secret)]);
  });

  it("goes on at once where a release that knows no parked runs has claimed it, and has let go of it", async () => {
    const { sessionId, runId, sequence, answer, ran } = await parkedRun();
    const [held] = await database.query<{ replica_id: string }>(
      "INSERT INTO replica (replica_id, lease_until) VALUES (gen_random_uuid(), now() + interval '1 hour') RETURNING replica_id",
    );
    const claim = "UPDATE run SET held_by = $2, lease_owner = gen_random_uuid(), lease_until = 'infinity' WHERE run_id = $1";
    await database.query(claim, [runId, held!.replica_id]);
    // It has taken the answer: policy tells nobody of it again.
    answer(Decision.ALLOW);
    await database.query("DELETE FROM replica WHERE replica_id = $1", [held!.replica_id]);
    expect(valuesOf(await test.watch(sessionId, sequence), "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
    expect(ran).toHaveLength(1);
  });

  it("is not put aside while policy is of a release that does not tell of answers", async () => {
    let watches = 0;
    test.fake.behaviour.onWatchAnswers = () => {
      watches++;
      throw new ConnectError("unknown method", Code.Unimplemented);
    };
    // It watches since it was started: with the next process it begins anew.
    await test.orchestrator.stop();
    test.orchestrator = await test.startProcess();
    const { answer } = askBeforeCommands();
    test.answers(["", [shellCall("make")]], ["Done."]);
    const { sessionId, runId, sequence } = await test.ask("q");
    // One a second, and a run is put aside after a second.
    const before = watches;
    await expect.poll(() => watches).toBeGreaterThan(before + 2);
    expect(await database.query("SELECT FROM run WHERE run_id = $1 AND parked_until IS NOT NULL", [runId])).toEqual([]);
    test.fake.behaviour.onWatchAnswers = () => undefined;
    await untilParked(runId);
    answer(Decision.ALLOW, runId);
    expect(valuesOf(await test.watch(sessionId, sequence), "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
  });

  it("is not put aside while another of its calls is under way, and keeps what that came to", async () => {
    const policy = askBeforeCommands();
    const gate = Promise.withResolvers<void>();
    test.answers(["", [shellCall("make"), readCall("a")]], ["Done."]);
    const ran = runCallsOnce(test.fake.behaviour, () => gate.promise.then(() => DONE));
    const { sessionId, runId, sequence } = await test.ask("q");
    await expect.poll(policy.waiting).toBe(1);
    await expect.poll(() => ran).toHaveLength(1);
    expect(await database.query("SELECT FROM run WHERE run_id = $1 AND parked_until IS NOT NULL", [runId])).toEqual([]);
    gate.resolve();
    await untilParked(runId);
    policy.answer(Decision.ALLOW, runId);
    expect(valuesOf(await test.watch(sessionId, sequence), "toolEnd")).toMatchObject([{ result: DONE }, { result: DONE }]);
    expect(ran).toHaveLength(2);
  });
});
