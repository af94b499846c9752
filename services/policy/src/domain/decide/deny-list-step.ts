import type { Question, Step } from "./question.ts";
import { matchingPattern } from "./tool-pattern.ts";

/** Step 2. What is disallowed is denied, whatever else holds. */
export const denyListStep: Step = ({ call, settings }: Question) => {
  const pattern = matchingPattern(settings.disallowedTools, call.definition.name);
  if (pattern === undefined) return undefined;
  return {
    decision: "deny",
    step: "deny_list",
    rule: `disallowedTools: ${pattern}`,
    reason: `${call.definition.name} is disallowed for this run.`,
  };
};
