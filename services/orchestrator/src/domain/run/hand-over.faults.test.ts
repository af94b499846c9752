import { describe, expect, it } from "vitest";
import { Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { valuesOf } from "../../testing/event-values.ts";
import { DONE, idsOf, isCase, replace, runningCall, shellCall, useReplaceableProcess } from "../../testing/replaceable-process.ts";

const start = useReplaceableProcess();

describe("a run whose process is told to end", () => {
  it("is handed over when its call has ended", async () => {
    const { test } = await start();
    const { sessionId, sequence, ran, endCall } = await runningCall(test);
    const other = await test.startProcess();
    const ending = test.orchestrator.stop("SIGTERM");
    await expect.poll(() => test.ask("another").catch((cause: Error) => cause.message)).toContain("stopping");
    test.orchestrator = other;
    endCall();
    await ending;
    const events = await test.watch(sessionId, sequence);
    const cases = events.map(({ payload }) => payload.case);
    expect(cases.indexOf("toolEnd")).toBeLessThan(cases.indexOf("runTakenOver"));
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
    expect(idsOf(ran)).toEqual(["r.1.1"]);
  });

  it("leaves a call that does not end in time to whoever takes the run over", async () => {
    const { test } = await start();
    const { sessionId, sequence, ran, endCall } = await runningCall(test);
    await replace(test, "SIGTERM");
    await test.watch(sessionId, sequence, isCase("runTakenOver"));
    endCall();
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "toolEnd")).toMatchObject([{ result: DONE }]);
    expect(idsOf(ran)).toEqual(["r.1.1"]);
    expect(test.fake.seen.withdrawn).toEqual([]);
  });

  it("is handed over at once where it waits for an approval", async () => {
    const { test } = await start();
    test.answers(["", [shellCall("make")]], ["Done."]);
    test.fake.behaviour.decide = () => ({ decision: Decision.ASK, approval: { approvalId: crypto.randomUUID() } });
    test.fake.behaviour.awaitApproval = () => new Promise(() => undefined);
    // Before the run waits: one that has waited for five seconds is parked, and nobody's.
    const other = await test.startProcess();
    const { sessionId, sequence } = await test.ask("q");
    await test.watch(sessionId, sequence, isCase("permissionCheck"));
    const began = performance.now();
    await test.orchestrator.stop("SIGTERM");
    // It would have been given four seconds for a step.
    expect(performance.now() - began).toBeLessThan(4_000);
    test.orchestrator = other;
    await test.watch(sessionId, sequence, isCase("runTakenOver"));
    expect(test.fake.seen.withdrawn).toEqual([]);
    expect(test.fake.seen.outcomes).toEqual([]);
  });
});
