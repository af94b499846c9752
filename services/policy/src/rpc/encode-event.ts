import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AuditEventSchema, type AuditEvent } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { RecordedEvent } from "../domain/audit/audit-event.ts";
import { decisions, kinds, levels, modes, outcomes, steps, tiers } from "./words.ts";

/** An event of the log in the contract's words. */
export function encodeEvent(event: RecordedEvent): AuditEvent {
  return create(AuditEventSchema, {
    id: event.id,
    at: timestampFromDate(new Date(event.at)),
    kind: kinds[event.kind],
    principal: event.principal,
    sessionId: event.sessionId,
    runId: event.runId,
    callId: event.callId,
    tool: event.tool,
    argumentsJson: event.arguments,
    argumentsHash: event.argumentsHash,
    decision: event.decision && decisions[event.decision],
    step: event.step && steps[event.step],
    rule: event.rule,
    reason: event.reason,
    mode: event.mode && modes[event.mode],
    safetyLevel: event.safetyLevel && levels[event.safetyLevel],
    trustTier: event.trustTier && tiers[event.trustTier],
    outcome: event.outcome && outcomes[event.outcome],
    outcomeSummary: event.summary,
    durationMilliseconds: event.durationMilliseconds,
    approvalId: event.approvalId,
    traceId: event.traceId,
    query: event.query,
  });
}
