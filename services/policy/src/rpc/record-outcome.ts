import type { ServiceImpl } from "@connectrpc/connect";
import type { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { AuditLog } from "../domain/audit/audit-log.ts";
import { recordOutcome } from "../domain/audit/record-outcome.ts";
import { demandDelegation } from "../domain/demand-delegation.ts";
import { refuseControlCharacters } from "./refuse-control-characters.ts";
import { outcomes, wordOf } from "./words.ts";

export function recordOutcomeMethod(audit: AuditLog): ServiceImpl<typeof AuditService>["recordOutcome"] {
  return async ({ sessionId, runId, callId, status, summary, durationMilliseconds }, context) => {
    const { principal, delegation, traceId } = callContext(context);
    demandDelegation(delegation, { sessionId, runId });
    refuseControlCharacters({ call_id: callId });
    const outcome = { sessionId, runId, callId, status: wordOf(outcomes, status) ?? "failed", summary, durationMilliseconds };
    return { id: await recordOutcome(audit, principal, traceId, outcome) };
  };
}
