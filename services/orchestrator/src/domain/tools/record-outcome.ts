import { setImmediate as nextTick } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import pRetry from "p-retry";
import type { Audit, Outcome } from "../loop/ports.ts";

/** After 50, 225 and 1,012 ms. */
const RETRY = { retries: 3, minTimeout: 50, factor: 4.5 };

/**
 * Tells the audit log what came of an allowed call, with a few more tries.
 * @throws HlvmError `outcome_not_recorded`: the run may not go on
 */
export async function recordOutcome(audit: Audit, outcome: Outcome): Promise<void> {
  // The next model call goes out first: that is what a person waits for.
  await nextTick();
  try {
    await pRetry(() => recordOnce(audit, outcome), RETRY);
  } catch (cause) {
    throw new HlvmError({
      code: "unavailable",
      reason: "outcome_not_recorded",
      message: `What came of call ${outcome.callId} could not be written to the audit log: ${messageOf(cause)}`,
      advice: "Check that policy and its database are up (`hlvm status`), then go on with --resume.",
      cause,
    });
  }
}

async function recordOnce(audit: Audit, outcome: Outcome): Promise<void> {
  try {
    await audit.recordOutcome(outcome);
  } catch (cause) {
    // An earlier try got through, and only its answer was lost.
    if (!(cause instanceof HlvmError && cause.code === "already_exists")) throw cause;
  }
}
