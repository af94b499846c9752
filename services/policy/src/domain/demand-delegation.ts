import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Delegation } from "@hlvm/identity/delegation";

interface AskedRun {
  readonly sessionId?: string;
  readonly runId?: string;
}

/**
 * By what right a run is acted for: the delegation that the call carries.
 * @throws HlvmError `delegation_missing`, or `delegation_differs` where it is of another session or run
 */
export function demandDelegation(delegation: Delegation | undefined, asked: AskedRun = {}): Delegation {
  if (delegation === undefined)
    throw new HlvmError({
      code: "permission_denied",
      reason: "delegation_missing",
      message: "This is asked only for a run, and the call carries no delegation of one.",
      advice: "Start a run through the edge; it delegates what the person set.",
    });
  const { sessionId = delegation.sessionId, runId = delegation.runId } = asked;
  if (delegation.sessionId === sessionId && delegation.runId === runId) return delegation;
  throw new HlvmError({
    code: "permission_denied",
    reason: "delegation_differs",
    message: `The call is made for the run ${delegation.runId} and asks about another one.`,
    advice: "Call for each run with the delegation of that run.",
  });
}
