import { askOrDeny } from "./ask-or-deny.ts";
import type { Question, Step } from "./question.ts";

/** Step 6. Commands that reach other machines or ruin this one are asked or denied in every mode, bypassPermissions included. */
export const commandSafetyStep: Step = ({ call, settings }: Question) => {
  const { danger } = call.judgement;
  if (danger === undefined) return undefined;
  const { rule, reason } = danger;
  if (danger.decision === "deny") return { decision: "deny", step: "command_safety", rule, reason };
  return askOrDeny(settings, { step: "command_safety", rule, reason });
};
