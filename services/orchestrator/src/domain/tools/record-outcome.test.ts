import { expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { Outcome } from "../loop/ports.ts";
import { recordOutcome } from "./record-outcome.ts";

const outcome: Outcome = {
  sessionId: "s",
  runId: "r",
  callId: "c",
  status: OutcomeStatus.SUCCEEDED,
  summary: "",
  durationMilliseconds: 1,
};
const gone = new HlvmError({ code: "unavailable", reason: "unavailable", message: "gone" });
const there = new HlvmError({ code: "already_exists", reason: "outcome_already_recorded", message: "recorded before" });

/** An audit log that answers each try with what stands next; the last stays. */
function auditOf(answers: readonly (HlvmError | undefined)[]) {
  const audit = {
    tries: 0,
    recordOutcome: async (): Promise<void> => {
      const answer = answers[Math.min(audit.tries++, answers.length - 1)];
      if (answer !== undefined) throw answer;
    },
  };
  return audit;
}

it.each([
  ["the log takes it in the end", [gone, gone, undefined], 3],
  ["an earlier try got through and only its answer was lost", [gone, there], 2],
] as const)("tells an outcome again until %s", async (_, answers, tries) => {
  const audit = auditOf(answers);
  await recordOutcome(audit, outcome);
  expect(audit.tries).toBe(tries);
});

it("gives up after four tries, and says what to do", async () => {
  const audit = auditOf([gone]);
  await expect(recordOutcome(audit, outcome)).rejects.toMatchObject({
    reason: "outcome_not_recorded",
    message: expect.stringContaining("gone"),
    advice: expect.stringContaining("--resume"),
    cause: gone,
  });
  expect(audit.tries).toBe(4);
});
