import type { Question, Step } from "./question.ts";
import { matchingPattern } from "./tool-pattern.ts";

/** Step 2. What is disallowed, or outside of the tools that an agent is bound to, is denied, whatever else holds. */
export const denyListStep: Step = ({ call, settings }: Question) => {
  const { name } = call.definition;
  if (settings.onlyTools !== undefined && matchingPattern(settings.onlyTools, name) === undefined)
    return {
      decision: "deny",
      step: "deny_list",
      rule: `onlyTools: ${name}`,
      reason: `${name} is none of the tools that this agent may use.`,
    };
  const pattern = matchingPattern(settings.disallowedTools, name);
  if (pattern === undefined) return undefined;
  return {
    decision: "deny",
    step: "deny_list",
    rule: `disallowedTools: ${pattern}`,
    reason: `${name} is disallowed for this run.`,
  };
};
