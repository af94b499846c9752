import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ApprovalSchema, type Approval } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Approval as DomainApproval } from "../domain/approval/approval.ts";
import type { ApprovalRendering } from "../domain/approval/approval-rendering.ts";
import { encodeRendering } from "./encode-rendering.ts";
import { levels, states } from "./words.ts";

export function encodeApproval(approval: DomainApproval, rendering?: ApprovalRendering): Approval {
  const { safetyLevel, state, requestedAt, expiresAt, answeredAt } = approval;
  return create(ApprovalSchema, {
    approvalId: approval.approvalId,
    sessionId: approval.sessionId,
    runId: approval.runId,
    callId: approval.callId,
    tool: approval.tool,
    argumentsJson: approval.argumentsJson,
    argumentsHash: approval.argumentsHash,
    safetyLevel: levels[safetyLevel],
    reason: approval.reason,
    state: states[state],
    requestedAt: timestampFromDate(requestedAt),
    expiresAt: timestampFromDate(expiresAt),
    requestedBy: approval.requestedBy,
    answeredBy: approval.answeredBy,
    answeredAt: answeredAt === undefined ? undefined : timestampFromDate(answeredAt),
    rendering: rendering === undefined ? undefined : encodeRendering(rendering),
  });
}
