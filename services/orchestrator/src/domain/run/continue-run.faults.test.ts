import { describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { Role } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { Decision, DecidingStep } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { GetReceiptResponse_State as State } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { valuesOf } from "../../testing/event-values.ts";
import { pauseModel } from "../../testing/pause-model.ts";
import { readCall } from "../../testing/read-call.ts";
import { runCallsOnce } from "../../testing/run-calls-once.ts";
import { say } from "../../testing/say.ts";
import { usualBehaviour } from "../../testing/usual-behaviour.ts";
import { DONE, idsOf, isCase, replace, runningCall, shellCall, useReplaceableProcess } from "../../testing/replaceable-process.ts";

const start = useReplaceableProcess();

describe("a run whose process is killed", () => {
  it("goes on with a call that was under way, without running it again, and its watcher misses nothing", async () => {
    const { test } = await start();
    const { sessionId, sequence, ran, endCall } = await runningCall(test);
    await replace(test, "SIGKILL");
    const events = test.watch(sessionId, sequence);
    await test.watch(sessionId, sequence, isCase("runTakenOver"));
    endCall();
    expect(valuesOf(await events, "toolEnd")).toMatchObject([{ result: DONE }]);
    expect(valuesOf(await events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "Done.", turns: 2, toolCalls: 1 }]);
    expect((await events).map((event) => Number(event.sequence))).toEqual((await events).map((_, index) => Number(sequence) + index));
    expect(idsOf(ran)).toEqual(["r.1.1"]);
    await expect
      .poll(() => test.fake.seen.outcomes.map(({ callId, status }) => [...idsOf([callId]), status]), { timeout: 15_000 })
      .toContainEqual(["r.1.1", OutcomeStatus.SUCCEEDED]);
  });

  it("takes the result of a call that ended meanwhile from its receipt, and asks policy for nothing", async () => {
    const { test, kill } = await start();
    const { sessionId, sequence, ran, endCall } = await runningCall(test);
    await kill();
    endCall();
    const decided = test.fake.seen.decided.length;
    test.orchestrator = await test.startProcess();
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "toolEnd")).toMatchObject([{ result: DONE }]);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
    expect(test.fake.seen.decided).toHaveLength(decided);
    expect(idsOf(ran)).toEqual(["r.1.1"]);
  });

  it.each(["unavailable", "deadline_exceeded"] as const)("goes on also where the sandbox does not answer at first (%s)", async (code) => {
    const { test, kill } = await start();
    const { sessionId, sequence, endCall } = await runningCall(test);
    await kill();
    endCall();
    let asked = 0;
    const { openWorkspace } = test.fake.behaviour;
    test.fake.behaviour.openWorkspace = (path, session) => {
      if (++asked === 1) throw new HlvmError({ code, reason: "away", message: "It is away." });
      return openWorkspace(path, session);
    };
    test.orchestrator = await test.startProcess();
    expect(valuesOf(await test.watch(sessionId, sequence), "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
    expect(asked).toBe(2);
  });

  it("asks the model again where its answer had not come to its end, in a turn of its own", async () => {
    const { test, kill } = await start();
    pauseModel(test.fake.behaviour);
    const { sessionId, sequence } = await test.ask("What is this?");
    await test.watch(sessionId, sequence, isCase("messageDelta"));
    await kill();
    test.answers(["A project."]);
    test.orchestrator = await test.startProcess();
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "A project.", turns: 2 }]);
    const [before, after] = test.fake.seen.requests;
    expect(after!.messages).toEqual(before!.messages);
  });

  it("gives the model the same context after a compaction as the process before it had", async () => {
    const { test } = await start({ HLVM_MAXIMUM_TURNS: "60" });
    const { behaviour, seen } = test.fake;
    behaviour.model = { ...usualBehaviour.model, contextWindow: 16_384 };
    behaviour.execute = async function* ({ call }) {
      yield { event: { case: "result", value: { ...DONE, content: `${call!.argumentsJson} has a line\n`.repeat(60) } } };
    };
    const hold = Promise.withResolvers<void>();
    let isHeld = true;
    behaviour.generate = async function* (request, call) {
      if (request.tools.length === 0) return yield* say("## Done: some files were read.");
      const isCompacted = JSON.stringify(request.messages[1]!.parts.map(({ part }) => part.value)).includes("some files were read");
      if (!isCompacted) return yield* say("", [readCall(`file-${call}`)]);
      if (!isHeld) return yield* say("Done.");
      yield { event: { case: "textDelta", value: "Well, " } };
      hold.resolve();
      await new Promise(() => undefined);
    };
    const { sessionId, sequence } = await test.ask("q");
    await hold.promise;
    await test.watch(sessionId, sequence, isCase("compaction"));
    const before = seen.requests.at(-1)!;
    isHeld = false;
    await replace(test, "SIGKILL");
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "Done." }]);
    expect(seen.requests.at(-1)!.messages).toEqual(before.messages);
    expect(valuesOf(events, "compaction")).toHaveLength(1);
  });

  it("waits for a service that did not answer in time while it was taken over", async () => {
    const { test, kill } = await start();
    pauseModel(test.fake.behaviour);
    const { sessionId, sequence } = await test.ask("q");
    await test.watch(sessionId, sequence, isCase("messageDelta"));
    await kill();
    test.answers(["Done."]);
    const { openWorkspace } = test.fake.behaviour;
    test.fake.behaviour.openWorkspace = () => {
      test.fake.behaviour.openWorkspace = openWorkspace;
      throw new HlvmError({ code: "deadline_exceeded", reason: "deadline_exceeded", message: "the operation timed out" });
    };
    test.orchestrator = await test.startProcess();
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "Done." }]);
  });

  it("runs the calls of its last answer that had not begun, and not those that had ended", async () => {
    const { test, kill } = await start();
    test.answers(["", [readCall("a"), shellCall("b"), shellCall("c")]], ["Done."]);
    const held = Promise.withResolvers<never>();
    let isHeld = true;
    const { behaviour } = test.fake;
    const { decide } = behaviour;
    behaviour.decide = (request) => (isHeld && request.call!.argumentsJson.includes('"c"') ? held.promise : decide(request));
    const ran = runCallsOnce(behaviour, (_, argumentsJson) => ({ ...DONE, content: argumentsJson }));
    const { sessionId, sequence } = await test.ask("q");
    await test.watch(sessionId, sequence, isCase("toolEnd"));
    await kill();
    isHeld = false;
    test.orchestrator = await test.startProcess();
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "toolEnd").map(({ callId, result }) => [...idsOf([callId]), result!.content])).toEqual([
      ["r.1.1", '{"path":"a"}'],
      ["r.1.2", '{"command":"b"}'],
      ["r.1.3", '{"command":"c"}'],
    ]);
    expect(idsOf(ran)).toEqual(["r.1.1", "r.1.2", "r.1.3"]);
    const told = test.fake.seen.requests.at(-1)!.messages.at(-1)!;
    expect(told.role).toBe(Role.TOOL);
    expect(told.parts.map(({ part }) => (part.value as { content: string }).content)).toEqual([
      '{"path":"a"}',
      '{"command":"b"}',
      '{"command":"c"}',
    ]);
  });

  it("reads again what was being read, and says of the rest that it is not known, where the sandbox cannot tell", async () => {
    const { test } = await start();
    test.answers(["", [readCall("a"), shellCall("b")]], ["Done."]);
    const begun = new Set<string>();
    test.fake.behaviour.execute = async function* ({ call }) {
      if (begun.has(call!.callId))
        throw new HlvmError({ code: "failed_precondition", reason: "call_in_doubt", message: "It was started before." });
      begun.add(call!.callId);
      if (call!.callId.endsWith(".again")) yield { event: { case: "result", value: DONE } };
      else {
        yield { event: { case: "output", value: { text: "begun\n" } } };
        await new Promise(() => undefined);
      }
    };
    test.fake.behaviour.receipt = (callId) => ({ state: begun.has(callId) ? State.UNKNOWN : State.NEVER_STARTED });
    const { sessionId, sequence } = await test.ask("q");
    await expect.poll(() => begun.size).toBe(2);
    await test.watch(sessionId, sequence, isCase("toolOutput"));
    await replace(test, "SIGKILL");
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "toolEnd").map(({ result }) => result)).toMatchObject([DONE, { success: false, errorCode: "outcome_unknown" }]);
    expect(idsOf([...begun])).toEqual(["r.1.1", "r.1.2", "r.1.1.again"]);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
  });

  it("waits on for the approval that it waited for", async () => {
    const { test } = await start();
    const approvalId = crypto.randomUUID();
    const answered = Promise.withResolvers<void>();
    test.answers(["", [shellCall("make")]], ["Done."]);
    test.fake.behaviour.decide = () => ({ decision: Decision.ASK, step: DecidingStep.MODE, approval: { approvalId } });
    test.fake.behaviour.awaitApproval = () => answered.promise.then(() => ({ decision: Decision.ALLOW, grant: "granted" }));
    const ran = runCallsOnce(test.fake.behaviour, () => DONE);
    const { sessionId, sequence } = await test.ask("q");
    await test.watch(sessionId, sequence, isCase("permissionCheck"));
    await replace(test, "SIGKILL");
    await test.watch(sessionId, sequence, isCase("runTakenOver"));
    answered.resolve();
    expect(valuesOf(await test.watch(sessionId, sequence), "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
    expect(test.fake.seen.withdrawn).toEqual([]);
    expect(idsOf(ran)).toEqual(["r.1.1"]);
  });

  it("is cancelled where somebody asked for that while nobody held it", async () => {
    const { test, query, kill } = await start();
    const { sessionId, sequence } = await runningCall(test);
    await kill();
    await query("UPDATE run SET cancel_requested_at = now()");
    test.orchestrator = await test.startProcess();
    expect(valuesOf(await test.watch(sessionId, sequence), "runStopped")).toMatchObject([{ reason: StopReason.USER_CANCELLED }]);
  });

  it("is over at the time that was set for it, however often it was taken over", async () => {
    const { test, query, kill } = await start();
    const { sessionId, sequence } = await runningCall(test);
    await kill();
    await query("UPDATE run SET started_at = now() - interval '1 hour'");
    test.orchestrator = await test.startProcess();
    expect(valuesOf(await test.watch(sessionId, sequence), "runStopped")).toMatchObject([{ reason: StopReason.TIMEOUT }]);
  });

  it.each([
    ["nothing says any more what it may do", "UPDATE run SET delegation = NULL", "Nothing says any more"],
    ["what says it is no delegation", "UPDATE run SET delegation = 'forged'", "delegation does not count"],
    ["it has ended too many processes", "UPDATE run SET fruitless_claims = 100, claimed_progress = 1", "without getting any further"],
  ])("is ended where %s", async (_, change, why) => {
    const { test, query, kill } = await start();
    const { sessionId, sequence } = await runningCall(test);
    await kill();
    await query(change);
    test.orchestrator = await test.startProcess();
    expect(valuesOf(await test.watch(sessionId, sequence), "runStopped")).toMatchObject([
      { reason: StopReason.ERROR, message: expect.stringContaining(why), advice: expect.stringContaining("--resume") },
    ]);
  });

  it("does not run a call again whose arguments held a secret, which nobody has kept", async () => {
    const { test } = await start();
    const secret = `ghp_${"a1B2".repeat(9)}`;
    test.answers(["", [shellCall(`curl -H "Authorization: ${secret}" localhost`)]], ["Done."]);
    test.fake.behaviour.decide = () => new Promise(() => undefined);
    const ran = runCallsOnce(test.fake.behaviour, () => DONE);
    const { sessionId, sequence } = await test.ask("q");
    await test.watch(sessionId, sequence, isCase("toolSelected"));
    await replace(test, "SIGKILL");
    const [end] = valuesOf(await test.watch(sessionId, sequence), "toolEnd");
    expect(end!.result).toMatchObject({ errorCode: "cancelled", content: expect.stringContaining("secret") });
    expect(ran).toEqual([]);
  });
});
