import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { AuditLog } from "../domain/audit/audit-log.ts";
import { queryAudit, whoApproved } from "../domain/audit/query-audit.ts";
import { demandPerson } from "../domain/demand-person.ts";
import { decodeAuditFilter, DEFAULT_AUDIT_LIMIT } from "./decode-audit-filter.ts";
import { encodeEvent } from "./encode-event.ts";
import { refuseControlCharacters } from "./refuse-control-characters.ts";

export function queryMethod(audit: AuditLog): ServiceImpl<typeof AuditService>["query"] {
  return async (request, context) => {
    const { principal, delegation, traceId } = callContext(context);
    demandPerson(delegation);
    const { events, nextBeforeId } = await queryAudit(audit, principal, traceId, decodeAuditFilter(request));
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
      limit: request.limit || DEFAULT_AUDIT_LIMIT,
      beforeId: request.beforeId || undefined,
    });
    const encoded = calls.map(({ call, answer }) => ({ call: encodeEvent(call), answer: answer && encodeEvent(answer) }));
    return { calls: encoded, nextBeforeId: nextBeforeId ?? 0n };
  };
}
