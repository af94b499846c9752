import type { Verdict } from "../verdict.ts";
import type { Approval } from "./approval.ts";

/** The verdict on a question to a person with what they said, where they answered it. */
export function withAnswer(verdict: Verdict, approval: Approval): Verdict {
  const { kind, answerText = "", answeredBy = "", answerMode, answerDelegation } = approval;
  if (verdict.decision !== "allow" || kind === "action") return verdict;
  return { ...verdict, personAnswer: { text: answerText, answeredBy, mode: answerMode, delegation: answerDelegation ?? "" } };
}
