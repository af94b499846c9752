import { askOrDeny } from "./ask-or-deny.ts";
import type { Question, Step } from "./question.ts";

/**
 * Asked right after the deny list. A call that may have taken effect already is made once more only where a person says so,
 * whatever was allowed before. One with a danger is left to step 6, which asks or denies.
 */
export const inDoubtStep: Step = ({ call: { definition, judgement }, settings, repeats }: Question) => {
  if (repeats === undefined || judgement.danger !== undefined) return undefined;
  return askOrDeny(settings, {
    step: "in_doubt",
    rule: "made before",
    reason: `This very call of ${definition.name} was made before and cut off, and nobody knows whether it took effect: yes makes it once more.`,
  });
};
