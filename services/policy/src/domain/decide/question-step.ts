import { askOrDeny } from "./ask-or-deny.ts";
import type { Question, Step } from "./question.ts";

/**
 * Asked right after the deny list. A call that is itself a question to a person is put to them in every mode, whatever was
 * allowed before: a list, a mode or an earlier answer cannot answer for them.
 */
export const questionStep: Step = ({ call: { definition }, settings }: Question) => {
  const step = "question";
  if (definition.asksPerson === undefined) return undefined;
  if (definition.asksPerson === "question")
    return askOrDeny(settings, { step, rule: "question", reason: "The model asks something. What you answer allows nothing." });
  if (settings.mode === "plan")
    return askOrDeny(settings, { step, rule: "plan", reason: "The model proposes a plan. Nothing is changed before you accept it." });
  return {
    decision: "deny",
    step,
    rule: "plan: not in plan mode",
    reason: `The run is in the mode ${settings.mode}, so that no plan has to be accepted.`,
  };
};
