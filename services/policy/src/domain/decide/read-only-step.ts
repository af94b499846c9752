import type { Question, Step } from "./question.ts";

/** Step 4. Reading is allowed in every mode. */
export const readOnlyStep: Step = ({ call }: Question) =>
  call.judgement.level === "L0"
    ? { decision: "allow", step: "read_only", rule: "L0", reason: `${call.definition.name} only reads here.` }
    : undefined;
