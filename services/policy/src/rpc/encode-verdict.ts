import { create } from "@bufbuild/protobuf";
import { VerdictSchema, type Verdict } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { ApprovalRendering } from "../domain/approval/approval-rendering.ts";
import type { Verdict as DomainVerdict } from "../domain/verdict.ts";
import { encodeApproval } from "./encode-approval.ts";
import { decisions, levels, modes, steps, tiers } from "./words.ts";

export function encodeVerdict(verdict: DomainVerdict, rendering?: ApprovalRendering): Verdict {
  const { decision, step, rule, reason, safetyLevel, trustTier, grant, approval, personAnswer } = verdict;
  return create(VerdictSchema, {
    decision: decisions[decision],
    step: steps[step],
    rule,
    reason,
    safetyLevel: safetyLevel === undefined ? undefined : levels[safetyLevel],
    trustTier: trustTier === undefined ? undefined : tiers[trustTier],
    grant,
    approval: approval === undefined ? undefined : encodeApproval(approval, rendering),
    personAnswer: personAnswer === undefined ? undefined : { ...personAnswer, mode: personAnswer.mode && modes[personAnswer.mode] },
  });
}
