import { HlvmError } from "@hlvm/errors/hlvm-error";
import { create } from "@bufbuild/protobuf";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { VerdictSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { describe, expect, it } from "vitest";
import type { Outcome } from "../loop/ports.ts";
import { OutcomeRecorder } from "./outcome-recorder.ts";

const outcome: Outcome = {
  sessionId: "s",
  runId: "r",
  callId: "r.1.1",
  status: OutcomeStatus.SUCCEEDED,
  summary: "done",
  durationMilliseconds: 1,
};
const failure = (code: HlvmError["code"], reason: string): HlvmError => new HlvmError({ code, reason, message: reason });

describe("OutcomeRecorder", () => {
  it("tries again until policy, started again, has it", async () => {
    let calls = 0;
    const recordOutcome = async (): Promise<void> => {
      if (++calls < 4) throw failure("unavailable", "connection_lost");
    };
    const recorder = new OutcomeRecorder({ recordOutcome }, 10_000, "Ask again.");
    await recorder.record(outcome);
    expect(calls).toBe(4);
    expect(recorder.close()).toBe(false);
  });

  it("stops the run where policy stays away, and says that something is left", async () => {
    const recorder = new OutcomeRecorder(
      { recordOutcome: () => Promise.reject(failure("unavailable", "connection_lost")) },
      200,
      "Ask again.",
    );
    await expect(recorder.record(outcome)).rejects.toMatchObject({ reason: "outcome_not_recorded" });
    expect(recorder.close()).toBe(true);
  });

  it("says that something is left where it is closed before policy has answered, also at once", async () => {
    const recorder = new OutcomeRecorder({ recordOutcome: () => Promise.withResolvers<void>().promise }, 10_000, "Ask again.");
    void recorder.record(outcome);
    expect(recorder.close()).toBe(true);
  });

  it("has nothing left of a call that was denied, and something of one that policy has not decided on yet", async () => {
    const denied = new OutcomeRecorder(
      { recordOutcome: () => Promise.reject(failure("failed_precondition", "call_not_allowed")) },
      10_000,
      "Ask again.",
    );
    await denied.recordNotRun(outcome);
    expect(denied.close()).toBe(false);
    const undecided = new OutcomeRecorder(
      { recordOutcome: () => Promise.reject(failure("not_found", "intent_not_found")) },
      10_000,
      "Ask again.",
    );
    await undecided.recordNotRun(outcome);
    expect(undecided.close()).toBe(true);
  });

  it("lets the next decision take along what waits, and tells by itself what that did not record", async () => {
    const alone: string[] = [];
    const recorder = new OutcomeRecorder({ recordOutcome: async ({ callId }) => void alone.push(callId) }, 10_000, "Ask again.");
    const recording = [recorder.record(outcome), recorder.record({ ...outcome, callId: "r.1.2" })];
    const told: string[][] = [];
    const decide = (recordedCallIds: string[]) => (ended: readonly Outcome[]) => {
      told.push(ended.map(({ callId }) => callId));
      return Promise.resolve({ verdict: create(VerdictSchema), recordedCallIds });
    };
    await recorder.recordWith(decide(["r.1.1"]));
    await recorder.recordWith(decide([]));
    await Promise.all(recording);
    expect(told).toEqual([["r.1.1", "r.1.2"], []]);
    expect(alone).toEqual(["r.1.2"]);
    expect(recorder.close()).toBe(false);
  });

  it("tells by itself what went with a decision that failed, and what no decision comes for", async () => {
    const alone: string[] = [];
    const recorder = new OutcomeRecorder({ recordOutcome: async ({ callId }) => void alone.push(callId) }, 10_000, "Ask again.");
    const first = recorder.record(outcome);
    await expect(recorder.recordWith(() => Promise.reject(failure("unavailable", "connection_lost")))).rejects.toThrow("connection_lost");
    await first;
    await recorder.record({ ...outcome, callId: "r.2.1" });
    const flushed = recorder.record({ ...outcome, callId: "r.3.1" });
    recorder.flush();
    await flushed;
    expect(alone).toEqual(["r.1.1", "r.2.1", "r.3.1"]);
  });

  it("tells no more than eight at a time", async () => {
    const released = Promise.withResolvers<void>();
    let going = 0;
    const recordOutcome = (): Promise<void> => {
      going++;
      return released.promise;
    };
    const recorder = new OutcomeRecorder({ recordOutcome }, 10_000, "Ask again.");
    const all = Array.from({ length: 20 }, () => recorder.record(outcome));
    await expect.poll(() => going).toBe(8);
    released.resolve();
    await Promise.all(all);
    expect(going).toBe(20);
  });
});
