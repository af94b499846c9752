import type { Question, Step } from "./question.ts";

/**
 * In plan mode only what reads runs, whatever was allowed by name, for the session or would be asked about elsewhere: the
 * person decides on the plan as a whole, and what they accept it with is another mode.
 */
export const planModeStep: Step = ({ call: { definition, judgement }, settings }: Question) =>
  settings.mode === "plan" && judgement.level !== "L0"
    ? {
        decision: "deny",
        step: "mode",
        rule: `plan: ${judgement.level}`,
        reason: `${definition.name} does more than read (${judgement.level}), and in plan mode nothing else runs until a plan is accepted.`,
      }
    : undefined;
