import { commandSafetyStep } from "./command-safety-step.ts";
import { denyListStep } from "./deny-list-step.ts";
import { destructiveStep } from "./destructive-step.ts";
import { explicitAllowStep } from "./explicit-allow-step.ts";
import { inDoubtStep } from "./in-doubt-step.ts";
import { modeStep } from "./mode-step.ts";
import { planModeStep } from "./plan-mode-step.ts";
import { questionStep } from "./question-step.ts";
import type { Ruling } from "./decision.ts";
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

/** Steps 2 to 7, after `resolveCall` has taken the first: pure and total, the first step that answers decides. */
export function decide(question: Question): Ruling {
  for (const step of STEPS) {
    const ruling = step(question);
    if (ruling !== undefined) return ruling;
  }
  return modeStep(question);
}
