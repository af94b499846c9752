import type { Approval, ApprovalAnswer, ApprovalKind, ApprovalState } from "../../domain/approval/approval.ts";

export const IDENTITY_COLUMNS = "approval_id, organization, session_id, run_id, call_id, requested_by";
export const CALL_COLUMNS =
  "tool, definition_hash, arguments_json, arguments_hash, safety_level, trust_tier, mode, scope, step, rule, reason, kind, settings";
export const IS_PENDING = "answer IS NULL AND withdrawn_at IS NULL AND used_at IS NULL AND expires_at > now()";
/** What `approvalOf` reads. */
export const APPROVAL_COLUMNS = `${IDENTITY_COLUMNS}, ${CALL_COLUMNS}, requested_at, expires_at, answer, answer_text, answer_key, answer_mode, answer_delegation, answered_by, answered_at,
  preview, used_at, withdrawn_at, expires_at <= now() AS is_over`;

export type ApprovalRow = {
  readonly approval_id: string;
  readonly organization: string;
  readonly session_id: string;
  readonly run_id: string;
  readonly call_id: string;
  readonly requested_by: string;
  readonly tool: string;
  readonly kind: ApprovalKind;
  readonly settings: NonNullable<Approval["settings"]> | null;
  readonly definition_hash: string;
  readonly arguments_json: string;
  readonly arguments_hash: string;
  readonly safety_level: Approval["safetyLevel"];
  readonly trust_tier: Approval["trustTier"];
  readonly mode: Approval["mode"];
  readonly scope: string[];
  readonly step: Approval["step"];
  readonly rule: string;
  readonly reason: string;
  readonly requested_at: Date;
  readonly expires_at: Date;
  readonly answer: ApprovalAnswer | null;
  readonly answer_text: string | null;
  readonly answer_key: string | null;
  readonly answer_mode: Approval["mode"] | null;
  readonly answer_delegation: string | null;
  readonly answered_by: string | null;
  readonly answered_at: Date | null;
  readonly preview: NonNullable<Approval["preview"]> | null;
  readonly used_at: Date | null;
  readonly withdrawn_at: Date | null;
  readonly is_over: boolean;
};

export function approvalOf(row: ApprovalRow): Approval {
  return {
    approvalId: row.approval_id,
    organization: row.organization,
    sessionId: row.session_id,
    runId: row.run_id,
    callId: row.call_id,
    tool: row.tool,
    kind: row.kind,
    ...(row.settings === null ? {} : { settings: row.settings }),
    definitionHash: row.definition_hash,
    argumentsJson: row.arguments_json,
    argumentsHash: row.arguments_hash,
    safetyLevel: row.safety_level,
    trustTier: row.trust_tier,
    mode: row.mode,
    scope: row.scope,
    step: row.step,
    rule: row.rule,
    reason: row.reason,
    state: stateOf(row),
    requestedBy: row.requested_by,
    requestedAt: row.requested_at,
    expiresAt: row.expires_at,
    ...(row.answer === null ? {} : { answer: row.answer }),
    ...(row.answer_text === null ? {} : { answerText: row.answer_text }),
    ...(row.answer_key === null ? {} : { answerKey: row.answer_key }),
    ...(row.answer_mode === null ? {} : { answerMode: row.answer_mode }),
    ...(row.answer_delegation === null ? {} : { answerDelegation: row.answer_delegation }),
    ...(row.answered_by === null ? {} : { answeredBy: row.answered_by }),
    ...(row.answered_at === null ? {} : { answeredAt: row.answered_at }),
    isUsed: row.used_at !== null,
    ...(row.preview === null || row.arguments_json === "" ? {} : { preview: row.preview }),
  };
}

function stateOf({ answer, withdrawn_at: withdrawnAt, is_over: isOver }: ApprovalRow): ApprovalState {
  if (answer !== null) return answer === "deny" ? "denied" : "approved";
  if (withdrawnAt !== null) return "withdrawn";
  return isOver ? "expired" : "pending";
}
