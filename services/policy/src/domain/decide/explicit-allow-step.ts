import type { CallJudgement } from "../judge/call-judgement.ts";
import type { Question, SessionAllowance, Step } from "./question.ts";
import { matchingPattern } from "./tool-pattern.ts";

/**
 * Step 3. What was allowed by name, or by "always for this session", is allowed without asking: also an L2 command such
 * as `npm test` in mode dontAsk.
 *
 * It never skips 1 and 2, which come before it, nor 5 and 6: for a destructive call or one with a danger it does not
 * answer, so that those steps do. `--allowedTools shell_exec` thus covers builds and tests, but neither `rm -r` nor a
 * forced push.
 */
export const explicitAllowStep: Step = ({ call, settings, allowances }: Question) => {
  const { definition, judgement } = call;
  if (judgement.destructive !== undefined || judgement.danger !== undefined) return undefined;
  const pattern = matchingPattern(settings.allowedTools, definition.name);
  if (pattern !== undefined)
    return {
      decision: "allow",
      step: "explicit_allow",
      rule: `allowedTools: ${pattern}`,
      reason: `${definition.name} is explicitly allowed for this run.`,
    };
  if (matchingAllowance(allowances, definition.name, judgement))
    return {
      decision: "allow",
      step: "explicit_allow",
      rule: `session approval: ${definition.name}`,
      reason: `A person allowed ${definition.name} for the rest of this session.`,
    };
  return undefined;
};

/**
 * Whether "always for this session" was said of such a call: the same tool, at the same or a lower safety level. That is
 * enough for every tool whose definition bounds what it can do. An L2 shell command can do anything, so there the
 * answer holds only for what the person saw: every part of the command has to be within the scope of an earlier answer.
 */
export function matchingAllowance(allowances: readonly SessionAllowance[], tool: string, judgement: CallJudgement): boolean {
  const fitting = allowances.filter((allowance) => allowance.tool === tool && allowance.level >= judgement.level);
  if (fitting.length === 0) return false;
  if (judgement.scope.length === 0) return true;
  const allowed = new Set(fitting.flatMap((allowance) => allowance.scope));
  return judgement.scope.every((part) => allowed.has(part));
}
