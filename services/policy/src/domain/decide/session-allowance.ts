import type { CallJudgement } from "../judge/call-judgement.ts";
import type { SessionAllowance } from "./question.ts";

/**
 * Whether "always for this session" was said of such a call: the same tool, at the same or a lower safety level. That is
 * enough for every tool whose definition bounds what it can do. An L2 shell command can do anything, so there the
 * answer holds only for what the person saw: every part of the command has to be within the scope of an earlier answer.
 */
export function allowanceCovers(allowances: readonly SessionAllowance[], tool: string, judgement: CallJudgement): boolean {
  const fitting = allowances.filter((allowance) => allowance.tool === tool && allowance.level >= judgement.level);
  if (fitting.length === 0) return false;
  if (judgement.scope.length === 0) return true;
  const allowed = new Set(fitting.flatMap((allowance) => allowance.scope));
  return judgement.scope.every((part) => allowed.has(part));
}
