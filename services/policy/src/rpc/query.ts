import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { AuditEventSchema, type AuditEvent, type AuditService, type QueryRequest } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { RecordedEvent } from "../domain/audit/audit-event.ts";
import type { AuditFilter, AuditLog } from "../domain/audit/audit-log.ts";
import { queryAudit, whoApproved } from "../domain/audit/query-audit.ts";
import { demandPerson } from "../domain/demand-person.ts";
import { refuseControlCharacters } from "./refuse-control-characters.ts";
import { decisions, kinds, levels, modes, outcomes, steps, tiers, wordOf } from "./words.ts";

const DEFAULT_LIMIT = 100;

export function queryMethod(audit: AuditLog): ServiceImpl<typeof AuditService>["query"] {
  return async (request, context) => {
    const { principal, delegation, traceId } = callContext(context);
    demandPerson(delegation);
    refuseControlCharacters({ tool: request.tool, principal: request.principal, text: request.text, path: request.path });
    const { events, nextBeforeId } = await queryAudit(audit, principal, traceId, decodeFilter(request));
    return { events: events.map(encodeEvent), nextBeforeId: nextBeforeId ?? 0n };
  };
}

export function whoApprovedMethod(audit: AuditLog): ServiceImpl<typeof AuditService>["whoApproved"] {
  return async (request, context) => {
    const { principal, delegation, traceId } = callContext(context);
    demandPerson(delegation);
    const { tool, principal: asker, approver, path, text, callId } = request;
    refuseControlCharacters({ tool, principal: asker, approver, path, text, call_id: callId });
    const { calls, nextBeforeId } = await whoApproved(audit, principal, traceId, {
      tool: tool || undefined,
      principal: asker || undefined,
      approver: approver || undefined,
      path: path || undefined,
      text: text || undefined,
      callId: callId || undefined,
      sessionId: request.sessionId || undefined,
      since: request.since && timestampDate(request.since),
      until: request.until && timestampDate(request.until),
      limit: request.limit || DEFAULT_LIMIT,
      beforeId: request.beforeId || undefined,
    });
    const encoded = calls.map(({ call, answer }) => ({ call: encodeEvent(call), answer: answer && encodeEvent(answer) }));
    return { calls: encoded, nextBeforeId: nextBeforeId ?? 0n };
  };
}

function decodeFilter(request: QueryRequest): AuditFilter {
  return {
    tool: request.tool || undefined,
    principal: request.principal || undefined,
    sessionId: request.sessionId || undefined,
    decision: wordOf(decisions, request.decision),
    step: wordOf(steps, request.step),
    since: request.since === undefined ? undefined : timestampDate(request.since),
    until: request.until === undefined ? undefined : timestampDate(request.until),
    text: request.text || undefined,
    path: request.path || undefined,
    kind: wordOf(kinds, request.kind) ?? "intent",
    limit: request.limit || DEFAULT_LIMIT,
    beforeId: request.beforeId || undefined,
  };
}

function encodeEvent(event: RecordedEvent): AuditEvent {
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
