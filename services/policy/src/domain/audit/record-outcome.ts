import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import type { AuditLog } from "./audit-log.ts";
import { outcomeEvent, type Outcome } from "./outcome-event.ts";

/**
 * Records what came of a call that was allowed to this principal in this run: once.
 * @throws HlvmError `intent_not_found`, `call_not_allowed`, `outcome_already_recorded`
 */
export async function recordOutcome(log: AuditLog, principal: Principal, traceId: string, outcome: Outcome): Promise<bigint> {
  const id = await log.appendOutcome(outcomeEvent(principal, traceId, outcome));
  if (id === undefined) throw await refusal(log, principal, outcome);
  return id;
}

async function refusal(log: AuditLog, { organization, id }: Principal, { sessionId, runId, callId }: Outcome): Promise<HlvmError> {
  const intent = (await log.findCall(organization, sessionId, callId))?.intent;
  if (intent === undefined || intent.runId !== runId || intent.principal !== id)
    return new HlvmError({
      code: "not_found",
      reason: "intent_not_found",
      message: `No decision is recorded for the call ${callId} of this session and run.`,
      advice: "Record the outcome with the session, run and call that were decided on, for the same person.",
    });
  if (intent.decision !== "allow")
    return new HlvmError({
      code: "failed_precondition",
      reason: "call_not_allowed",
      message: `The call ${callId} was not allowed, so it can have no outcome.`,
      advice: "A call that was denied must not run; report it if it did.",
    });
  return new HlvmError({
    code: "already_exists",
    reason: "outcome_already_recorded",
    message: `The outcome of the call ${callId} is recorded already.`,
    advice: "The first outcome stands.",
  });
}
