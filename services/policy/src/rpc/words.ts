import type { DescEnum } from "@bufbuild/protobuf";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { permissionModeWord } from "@hlvm/ndjson/permission-mode";
import { AuditKindSchema, OutcomeStatusSchema, type AuditKind, type OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import {
  ApprovalAnswerSchema,
  ApprovalStateSchema,
  DecidingStepSchema,
  DecisionSchema,
  PermissionModeSchema,
  TrustTier,
  type ApprovalAnswer,
  type ApprovalState,
  type DecidingStep,
  type Decision,
  type PermissionMode,
} from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { TokenScopeSchema, type TokenScope } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { MemberRole, MemberStateSchema, RoleSourceSchema, type MemberState, type RoleSource } from "@hlvm/proto/hlvm/identity/v1/member_pb";
import type { Role as RoleWord } from "@hlvm/identity/principal";
import { SafetyLevel } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { ApprovalAnswer as AnswerWord, ApprovalState as StateWord } from "../domain/approval/approval.ts";
import type { AuditKind as KindWord, OutcomeStatus as OutcomeWord } from "../domain/audit/audit-event.ts";
import type { TokenScope as ScopeWord } from "../domain/identity/access-token.ts";
import type { HeldRole, Member } from "../domain/identity/member.ts";
import type { DecidingStep as StepWord, Decision as DecisionWord, PermissionMode as ModeWord } from "../domain/decide/decision.ts";

/** The contract's number for each of the domain's words. */
type Numbers<Word extends string, Value> = Readonly<Record<Word, Value>>;

export const decisions = numbersOf<DecisionWord, Decision>(DecisionSchema);
export const steps = numbersOf<StepWord, DecidingStep>(DecidingStepSchema);
export const modes = numbersOf<ModeWord, PermissionMode>(PermissionModeSchema, permissionModeWord);
export const answers = numbersOf<AnswerWord, ApprovalAnswer>(ApprovalAnswerSchema);
export const states = numbersOf<StateWord, ApprovalState>(ApprovalStateSchema);
export const kinds = numbersOf<KindWord, AuditKind>(AuditKindSchema);
export const scopes = numbersOf<ScopeWord, TokenScope>(TokenScopeSchema);
export const memberStates = numbersOf<Member["state"], MemberState>(MemberStateSchema);
export const roleSources = numbersOf<HeldRole["source"], RoleSource>(RoleSourceSchema);
export const roles: Numbers<RoleWord, MemberRole> = {
  developer: MemberRole.DEVELOPER,
  approver: MemberRole.APPROVER,
  admin: MemberRole.ADMIN,
  "security-auditor": MemberRole.SECURITY_AUDITOR,
};
export const outcomes = numbersOf<OutcomeWord, OutcomeStatus>(OutcomeStatusSchema);

export const levels: Numbers<"L0" | "L1" | "L2", SafetyLevel> = { L0: SafetyLevel.L0, L1: SafetyLevel.L1, L2: SafetyLevel.L2 };

export const tiers: Numbers<"built-in" | "plugin" | "skill", TrustTier> = {
  "built-in": TrustTier.BUILT_IN,
  plugin: TrustTier.PLUGIN,
  skill: TrustTier.SKILL,
};

/** @param wordOfNumber what the domain calls it, where it is not the contract's name */
export function numbersOf<Word extends string, Value extends number>(
  description: DescEnum,
  wordOfNumber: (value: Value) => string = (value) => enumWord(description, value),
): Numbers<Word, Value> {
  const known = description.values.filter(({ number }) => number !== 0).map(({ number }) => number as Value);
  return Object.fromEntries(known.map((number) => [wordOfNumber(number), number])) as Numbers<Word, Value>;
}

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
