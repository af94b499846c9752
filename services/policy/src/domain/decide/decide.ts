import { commandSafetyStep } from "./command-safety-step.ts";
import { denyListStep } from "./deny-list-step.ts";
import { destructiveStep } from "./destructive-step.ts";
import { explicitAllowStep } from "./explicit-allow-step.ts";
import { inDoubtStep } from "./in-doubt-step.ts";
import { modeStep } from "./mode-step.ts";
import type { Decision, Ruling } from "./decision.ts";
import { planModeStep } from "./plan-mode-step.ts";
import { questionStep } from "./question-step.ts";
import type { Question, Step } from "./question.ts";
import { readOnlyStep } from "./read-only-step.ts";
import { trustFloorStep } from "./trust-floor-step.ts";

const STEPS: readonly Step[] = [
  denyListStep,
  questionStep,
  planModeStep,
  inDoubtStep,
  trustFloorStep,
  explicitAllowStep,
  readOnlyStep,
  destructiveStep,
  commandSafetyStep,
];

const STRICTNESS: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 };

/**
 * Steps 2 to 7, after `resolveCall` has taken the first: pure and total, the first step that answers decides. Where the settings
 * were narrowed, as a worker's are, each of them is asked and the strictest ruling counts: what was narrowed cannot allow
 * more than what it was narrowed from, whatever either of them says.
 */
export function decide(question: Question): Ruling {
  const ruling = decideUnder(question);
  const { within } = question.settings;
  if (within === undefined) return ruling;
  const outer = decide({ ...question, settings: within });
  return STRICTNESS[ruling.decision] > STRICTNESS[outer.decision] ? ruling : outer;
}

function decideUnder(question: Question): Ruling {
  for (const step of STEPS) {
    const ruling = step(question);
    if (ruling !== undefined) return ruling;
  }
  return modeStep(question);
}
