import { setImmediate as nextTick, setTimeout as sleep } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Audit, Outcome } from "../loop/ports.ts";

const PAUSES_MILLISECONDS = [50, 250, 1_000];

/**
 * Tells the audit log what came of an allowed call, with a few more tries.
 * @throws HlvmError `outcome_not_recorded`: the run may not go on
 */
export async function recordOutcome(audit: Audit, outcome: Outcome): Promise<void> {
  // The next model call goes out first: that is what a person waits for.
  await nextTick();
  for (let attempt = 0; ; attempt++) {
    try {
      return await audit.recordOutcome(outcome);
    } catch (cause) {
      // An earlier try got through, and only its answer was lost.
      if (cause instanceof HlvmError && cause.code === "already_exists") return;
      const pause = PAUSES_MILLISECONDS[attempt];
      if (pause === undefined)
        throw new HlvmError({
          code: "unavailable",
          reason: "outcome_not_recorded",
          message: `What came of call ${outcome.callId} could not be written to the audit log: ${cause instanceof Error ? cause.message : String(cause)}`,
          advice: "Check that policy and its database are up (`hlvm status`), then go on with --resume.",
          cause,
        });
      await sleep(pause);
    }
  }
}
