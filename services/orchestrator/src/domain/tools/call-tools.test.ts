import { describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { DecidingStep, Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { valuesOf } from "../../testing/event-values.ts";
import { readCall } from "../../testing/read-call.ts";
import { say } from "../../testing/say.ts";
import { useTestOrchestrator } from "../../testing/use-test-orchestrator.ts";
import { usualBehaviour } from "../../testing/usual-behaviour.ts";

const AT_A_TIME = 8;
const CALLS = 12;
const test = useTestOrchestrator();

describe("the calls of a turn", () => {
  it("are decided on when there is room to run them, so that no grant grows old while it waits", async () => {
    const calls = Array.from({ length: CALLS }, (_, index) => readCall(`${index}`));
    test.answers(["", calls], ["done"]);
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

  it("begin in the order in which they were asked for, also after some that failed", async () => {
    const calls = Array.from({ length: CALLS }, (_, index) => readCall(`${index}`));
    test.answers(["", calls], ["done"]);
    let begun = 0;
    test.fake.behaviour.execute = async function* () {
      if (begun++ < AT_A_TIME) throw new HlvmError({ code: "invalid_argument", reason: "refused", message: "no" });
      yield { event: { case: "result", value: { success: true } } };
    };
    const { sessionId, sequence } = await test.ask("Read.");
    const results = valuesOf(await test.watch(sessionId, sequence), "toolEnd");
    expect(results.filter(({ result }) => result?.success)).toHaveLength(CALLS - AT_A_TIME);
    const asked = test.fake.seen.decided.map(({ call }) => call?.argumentsJson);
    expect(asked).toEqual(calls.map((call) => JSON.stringify(call.arguments)));
  });

  it("wait for a policy that is away for longer than a restart takes", { timeout: 20_000 }, async () => {
    test.answers(["", [readCall("a")]], ["Done."]);
    const { decide } = test.fake.behaviour;
    let refusals = 0;
    test.fake.behaviour.decide = (request) => {
      if (++refusals <= 6) throw new HlvmError({ code: "unavailable", reason: "database_unreachable", message: "starting up" });
      return decide(request);
    };
    const { stopped, results } = await test.run();
    expect(stopped.reason).toBe(StopReason.COMPLETED);
    expect(results).toMatchObject([{ success: true }]);
  });

  it("that wait for a sandbox say so, each place once", async () => {
    test.answers(["", [readCall("a")]], ["Done."]);
    test.fake.behaviour.execute = async function* () {
      for (const position of [2, 2, 1]) yield { event: { case: "waiting", value: { position } } };
      yield { event: { case: "result", value: { success: true, content: "here" } } };
    };
    const { events } = await test.run();
    expect(valuesOf(events, "toolWaiting")).toMatchObject([
      { tool: "read_file", position: 2 },
      { tool: "read_file", position: 1 },
    ]);
  });

  it("do not keep a cancelled run from ending when the audit log does not answer", { timeout: 10_000 }, async () => {
    const reached = Promise.withResolvers<void>();
    test.fake.behaviour.recordOutcome = () => {
      reached.resolve();
      return new Promise(() => undefined);
    };
    test.fake.behaviour.generate = (request) =>
      request.messages.some((message) => message.parts.some(({ part }) => part.case === "toolResult"))
        ? say("", [readCall("b")])
        : say("", [readCall("a")]);
    const { sessionId, runId, sequence } = await test.ask("Read.");
    await reached.promise;
    await test.cancel({ sessionId, runId });
    const [end] = valuesOf(await test.watch(sessionId, sequence), "runStopped");
    expect(end!.reason).toBe(StopReason.USER_CANCELLED);
  });

  it("that were allowed and did not run any more are told to the audit log", async () => {
    test.answers(["", [readCall("a")]]);
    const deciding = Promise.withResolvers<void>();
    const decided = Promise.withResolvers<void>();
    test.fake.behaviour.decide = async (request) => {
      deciding.resolve();
      await decided.promise;
      return usualBehaviour.decide(request);
    };
    const { sessionId, runId, sequence } = await test.ask("Read.");
    await deciding.promise;
    await test.cancel({ sessionId, runId });
    await test.watch(sessionId, sequence);
    decided.resolve();
    await expect.poll(() => test.fake.seen.outcomes).toMatchObject([{ runId, status: OutcomeStatus.CANCELLED }]);
  });

  it("ask nobody any more when the run is cancelled", async () => {
    test.answers(["", Array.from({ length: 5 }, (_, index) => readCall(`${index}`))]);
    const approvalId = "22222222-2222-4222-8222-222222222222";
    test.fake.behaviour.decide = () => ({ decision: Decision.ASK, step: DecidingStep.MODE, approval: { approvalId, tool: "read_file" } });
    const waiting = Promise.withResolvers<void>();
    test.fake.behaviour.awaitApproval = (_, context) => {
      waiting.resolve();
      return new Promise((_resolve, reject) => context.signal.addEventListener("abort", () => reject(context.signal.reason as Error)));
    };
    const { sessionId, runId, sequence } = await test.ask("Read.");
    await waiting.promise;
    await test.cancel({ sessionId, runId });
    expect(valuesOf(await test.watch(sessionId, sequence), "runStopped")).toMatchObject([{ reason: StopReason.USER_CANCELLED }]);
    await expect.poll(() => test.fake.seen.outcomes).toHaveLength(5);
    // Once for all of its calls: each time policy looks through everything that waits.
    await expect.poll(() => test.fake.seen.withdrawn).toEqual([runId]);
  });
});
