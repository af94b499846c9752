import type { SafetyLevel } from "@hlvm/tools/tool-definition";
import { askOrDeny } from "./ask-or-deny.ts";
import type { Decision, PermissionMode, Ruling } from "./decision.ts";
import type { Question } from "./question.ts";

const TABLE: Readonly<Record<PermissionMode, Readonly<Record<SafetyLevel, Decision>>>> = {
  default: { L0: "allow", L1: "ask", L2: "ask" },
  plan: { L0: "allow", L1: "deny", L2: "deny" },
  acceptEdits: { L0: "allow", L1: "allow", L2: "ask" },
  bypassPermissions: { L0: "allow", L1: "allow", L2: "allow" },
  dontAsk: { L0: "allow", L1: "deny", L2: "deny" },
};

const WORDS: Readonly<Record<SafetyLevel, string>> = { L0: "reads", L1: "changes the workspace", L2: "can do more than change files" };

/**
 * Step 7, the last: the mode's table. acceptEdits speaks of the platform's own edits, so a plugin's or a skill's tool is
 * asked there as by default.
 */
export function modeStep({ call, settings }: Question): Ruling {
  const { definition, judgement } = call;
  const { mode } = settings;
  const isTrusted = definition.trustTier === "built-in" || mode !== "acceptEdits";
  const decision = TABLE[isTrusted ? mode : "default"][judgement.level];
  const ruling = {
    step: "mode",
    rule: isTrusted ? `${mode}: ${judgement.level}` : `${mode}: ${judgement.level} of a ${definition.trustTier}`,
    reason: `${definition.name} ${WORDS[judgement.level]} (${judgement.level}), which the mode ${mode} ${VERBS[decision]}.`,
  } as const;
  return decision === "ask" ? askOrDeny(settings, ruling) : { ...ruling, decision };
}

const VERBS: Readonly<Record<Decision, string>> = { allow: "allows", ask: "asks about", deny: "denies" };
