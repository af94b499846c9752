import type { Question, Step } from "./question.ts";
import { allowanceCovers } from "./session-allowance.ts";
import { matchingPattern } from "./tool-pattern.ts";

/**
 * Step 3. What was allowed by name, or by "always for this session", is allowed without asking: also an L2 command such
 * as `npm test` in mode dontAsk.
 *
 * It never skips 1 and 2, which come before it, nor 5 and 6: for a destructive call or one with a danger it does not
 * answer, so that those steps do. `--allowedTools shell_exec` thus covers builds and tests, but neither `rm -r` nor a
 * forced push. In plan mode nothing is written before the plan is accepted, so there the list does not cover what
 * writes; a person's answer during the run is that acceptance and does.
 */
export const explicitAllowStep: Step = ({ call, settings, allowances }: Question) => {
  const { definition, judgement } = call;
  if (judgement.destructive !== undefined || judgement.danger !== undefined) return undefined;
  const pattern = matchingPattern(settings.allowedTools, definition.name);
  if (pattern !== undefined && (settings.mode !== "plan" || judgement.level === "L0"))
    return {
      decision: "allow",
      step: "explicit_allow",
      rule: `allowedTools: ${pattern}`,
      reason: `${definition.name} is explicitly allowed for this run.`,
    };
  if (allowanceCovers(allowances, definition.name, judgement))
    return {
      decision: "allow",
      step: "explicit_allow",
      rule: `session approval: ${definition.name}`,
      reason: `A person allowed ${definition.name} for the rest of this session.`,
    };
  return undefined;
};
