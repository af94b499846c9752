import type { ToolDefinition } from "@hlvm/tools/tool-definition";
import { askOrDeny } from "./ask-or-deny.ts";
import { matchingAllowance } from "./explicit-allow-step.ts";
import type { Question, Step } from "./question.ts";

/** What runs inside: in a sandbox without network, in memory, or from the session's own log. */
const INSIDE: ReadonlySet<string> = new Set(["sandbox", "memory", "orchestrator"]);

/**
 * Asked right after the deny list. Once content from outside is in the run's context, the model may act on a stranger's words:
 * whatever sends something out or writes outside the workspace is asked about in every mode, whatever was allowed by name
 * before. "Always for this session" counts where it was said to this very question, with the fragment named. A call with a
 * danger is left to step 6, which is stricter.
 */
export const trustFloorStep: Step = ({ call, settings, allowances, externalSource }: Question) => {
  const { definition, judgement } = call;
  if (externalSource === undefined || judgement.danger !== undefined) return undefined;
  const reach = reachOf(definition);
  if (reach === undefined) return undefined;
  const answered = allowances.filter(({ step }) => step === "trust_floor");
  if (matchingAllowance(answered, definition.name, judgement))
    return {
      decision: "allow",
      step: "trust_floor",
      rule: `session approval: ${definition.name}`,
      reason: `A person allowed ${definition.name} for the rest of this session, knowing that external content is in its context.`,
    };
  return askOrDeny(settings, {
    step: "trust_floor",
    rule: `external content: ${reach.rule}`,
    reason: `${definition.name} ${reach.reason}, and the context holds content from outside: ${externalSource}.`,
  });
};

/** How a tool reaches outside the workspace; undefined where it does not. */
function reachOf({ trustTier, executor, sideEffects }: ToolDefinition): { readonly rule: string; readonly reason: string } | undefined {
  if (trustTier !== "built-in" || !INSIDE.has(executor)) return { rule: "egress", reason: "sends its arguments out" };
  if (executor === "memory" && sideEffects !== "read-only")
    return { rule: "write outside", reason: "writes to memory, which outlives the session" };
  return undefined;
}
