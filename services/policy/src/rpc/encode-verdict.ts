import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ApprovalSchema, VerdictSchema, type Approval, type Verdict } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Approval as DomainApproval } from "../domain/approval/approval.ts";
import type { Verdict as DomainVerdict } from "../domain/verdict.ts";
import { decisions, levels, states, steps, tiers } from "./words.ts";

export function encodeVerdict(verdict: DomainVerdict): Verdict {
  const { decision, step, rule, reason, safetyLevel, trustTier, grant, approval } = verdict;
  return create(VerdictSchema, {
    decision: decisions[decision],
    step: steps[step],
    rule,
    reason,
    safetyLevel: safetyLevel === undefined ? undefined : levels[safetyLevel],
    trustTier: trustTier === undefined ? undefined : tiers[trustTier],
    grant,
    approval: approval === undefined ? undefined : encodeApproval(approval),
  });
}

export function encodeApproval(approval: DomainApproval): Approval {
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
  });
}
