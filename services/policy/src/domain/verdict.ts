import type { SafetyLevel, TrustTier } from "@hlvm/tools/tool-definition";
import type { Approval } from "./approval/approval.ts";
import type { PersonAnswer } from "./approval/person-answer.ts";
import type { Ruling } from "./decide/decision.ts";

/** What the caller of a decision gets. */
export interface Verdict extends Ruling {
  /** Absent where the first step denied. */
  readonly safetyLevel?: SafetyLevel;
  readonly trustTier?: TrustTier;
  /** With allow: signed, for one use. */
  readonly grant?: string;
  /** With ask: what waits for an answer. */
  readonly approval?: Approval;
  /** With allow, where the call was a question to a person. */
  readonly personAnswer?: PersonAnswer & { readonly answeredBy: string };
}
