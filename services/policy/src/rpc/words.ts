import { HlvmError } from "@hlvm/errors/hlvm-error";
import { AuditKind, OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { ApprovalAnswer, ApprovalState, DecidingStep, Decision, PermissionMode, TrustTier } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SafetyLevel } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { ApprovalAnswer as AnswerWord, ApprovalState as StateWord } from "../domain/approval/approval.ts";
import type { AuditKind as KindWord, OutcomeStatus as OutcomeWord } from "../domain/audit/audit-event.ts";
import type { DecidingStep as StepWord, Decision as DecisionWord, PermissionMode as ModeWord } from "../domain/decide/decision.ts";

/** The contract's number for each of the domain's words. */
export const decisions: Readonly<Record<DecisionWord, Decision>> = { allow: Decision.ALLOW, ask: Decision.ASK, deny: Decision.DENY };

export const steps: Readonly<Record<StepWord, DecidingStep>> = {
  definition: DecidingStep.DEFINITION,
  deny_list: DecidingStep.DENY_LIST,
  explicit_allow: DecidingStep.EXPLICIT_ALLOW,
  read_only: DecidingStep.READ_ONLY,
  destructive: DecidingStep.DESTRUCTIVE,
  command_safety: DecidingStep.COMMAND_SAFETY,
  mode: DecidingStep.MODE,
  approval: DecidingStep.APPROVAL,
  trust_floor: DecidingStep.TRUST_FLOOR,
  in_doubt: DecidingStep.IN_DOUBT,
};

export const modes: Readonly<Record<ModeWord, PermissionMode>> = {
  default: PermissionMode.DEFAULT,
  plan: PermissionMode.PLAN,
  acceptEdits: PermissionMode.ACCEPT_EDITS,
  bypassPermissions: PermissionMode.BYPASS_PERMISSIONS,
  dontAsk: PermissionMode.DONT_ASK,
};

export const levels: Readonly<Record<"L0" | "L1" | "L2", SafetyLevel>> = { L0: SafetyLevel.L0, L1: SafetyLevel.L1, L2: SafetyLevel.L2 };

export const tiers: Readonly<Record<"built-in" | "plugin" | "skill", TrustTier>> = {
  "built-in": TrustTier.BUILT_IN,
  plugin: TrustTier.PLUGIN,
  skill: TrustTier.SKILL,
};

export const answers: Readonly<Record<AnswerWord, ApprovalAnswer>> = {
  once: ApprovalAnswer.ONCE,
  session: ApprovalAnswer.SESSION,
  deny: ApprovalAnswer.DENY,
};

export const states: Readonly<Record<StateWord, ApprovalState>> = {
  pending: ApprovalState.PENDING,
  approved: ApprovalState.APPROVED,
  denied: ApprovalState.DENIED,
  expired: ApprovalState.EXPIRED,
  withdrawn: ApprovalState.WITHDRAWN,
};

export const kinds: Readonly<Record<KindWord, AuditKind>> = {
  intent: AuditKind.INTENT,
  outcome: AuditKind.OUTCOME,
  approval_requested: AuditKind.APPROVAL_REQUESTED,
  approval_answered: AuditKind.APPROVAL_ANSWERED,
  approval_withdrawn: AuditKind.APPROVAL_WITHDRAWN,
  budget_changed: AuditKind.BUDGET_CHANGED,
  audit_read: AuditKind.AUDIT_READ,
  grant_renewed: AuditKind.GRANT_RENEWED,
  renewal_denied: AuditKind.RENEWAL_DENIED,
};

export const outcomes: Readonly<Record<OutcomeWord, OutcomeStatus>> = {
  succeeded: OutcomeStatus.SUCCEEDED,
  failed: OutcomeStatus.FAILED,
  timed_out: OutcomeStatus.TIMED_OUT,
  cancelled: OutcomeStatus.CANCELLED,
  refused: OutcomeStatus.REFUSED,
  unknown: OutcomeStatus.UNKNOWN,
};

/**
 * The domain's word for a number of the contract; undefined for the unspecified one.
 * @throws HlvmError `unknown_value` for a number that this service does not know
 */
export function wordOf<Word extends string>(words: Readonly<Record<Word, number>>, number: number): Word | undefined {
  if (number === 0) return undefined;
  const found = (Object.keys(words) as Word[]).find((word) => words[word] === number);
  if (found !== undefined) return found;
  throw new HlvmError({
    code: "invalid_argument",
    reason: "unknown_value",
    message: `The value ${number} is not known to this version of the service.`,
    advice: "Bring the caller and the service to the same version.",
  });
}
