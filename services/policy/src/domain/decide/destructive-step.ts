import { askOrDeny } from "./ask-or-deny.ts";
import type { Question, Step } from "./question.ts";

/**
 * Step 5. What destroys is asked, and denied where nobody can be asked. In bypassPermissions the owner has said not to be
 * asked, and the sandbox bounds the loss, so the step leaves it to the mode. Where step 6 has something to say of
 * the same command its answer is the stricter one, so it is left to that step.
 */
export const destructiveStep: Step = ({ call, settings }: Question) => {
  const { destructive, danger } = call.judgement;
  if (destructive === undefined || danger !== undefined || settings.mode === "bypassPermissions") return undefined;
  return askOrDeny(settings, {
    step: "destructive",
    rule: `destructive: ${destructive}`,
    reason: `It destroys what cannot be brought back (${destructive}).`,
  });
};
