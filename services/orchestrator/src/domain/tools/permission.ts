import { HlvmError } from "@hlvm/errors/hlvm-error";
import { DecidingStep, Decision, type PersonAnswer, type Verdict } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { ToolCall } from "../loop/ports.ts";
import { denial } from "./denial.ts";

export interface Granted {
  readonly grant: string;
  /** Which step allowed it. */
  readonly step: DecidingStep;
  /** Of a call that was a question to a person. */
  readonly answer?: PersonAnswer;
}

/** The grant, or what the model is told instead. */
export type Permission = Granted | { readonly denial: ToolResult };

/** What a verdict that is no ask comes to. @throws HlvmError `verdict_unusable` */
export function permissionOf(call: ToolCall, { decision, step, rule, reason, grant, personAnswer }: Verdict): Permission {
  if (decision === Decision.ALLOW && grant !== "") return { grant, step, answer: personAnswer };
  if (decision !== Decision.DENY)
    throw new HlvmError({
      code: "internal",
      reason: "verdict_unusable",
      message: `Policy's answer cannot be used: its verdict is ${decision} with${grant === "" ? "out" : ""} a grant.`,
      advice: "Check that policy and orchestrator are of the same version.",
    });
  const what = step === DecidingStep.APPROVAL ? "Not approved" : "Policy denied this call";
  return { denial: denial(call, `${what}${rule === "" ? "" : ` (${rule})`}: ${reason}`) };
}
