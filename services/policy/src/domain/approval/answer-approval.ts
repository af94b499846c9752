import type { Principal } from "@hlvm/identity/principal";
import { demandAuthority } from "../authority.ts";
import type { Approval, ApprovalAnswer } from "./approval.ts";
import { approvalNotFound, approvalNotPending, argumentsDiffer } from "./approval-errors.ts";
import type { ApprovalStore } from "./approval-store.ts";

const WORDS: Readonly<Record<ApprovalAnswer, string>> = { once: "allowed once", session: "allowed for the session", deny: "denied" };

export interface GivenAnswer {
  readonly approvalId: string;
  readonly answer: ApprovalAnswer;
  /** Of the arguments that the person was shown; empty where the client does not say. */
  readonly argumentsHash: string;
}

/**
 * A person's answer, recorded with their name in the same commit.
 * @throws HlvmError `role_missing`, `approval_not_found`, `arguments_differ`, `approval_not_pending`, `approval_withdrawn`
 */
export async function answerApproval(
  store: ApprovalStore,
  principal: Principal,
  traceId: string,
  { approvalId, answer, argumentsHash }: GivenAnswer,
): Promise<Approval> {
  demandAuthority(principal, "answer_approvals");
  const asked = await store.find(principal.organization, approvalId);
  if (asked === undefined) throw approvalNotFound(approvalId);
  if (argumentsHash !== "" && argumentsHash !== asked.argumentsHash) throw argumentsDiffer(approvalId);
  const answered = await store.answer(principal.organization, approvalId, answer, {
    kind: "approval_answered",
    at: new Date().toISOString(),
    organization: principal.organization,
    principal: principal.id,
    sessionId: asked.sessionId,
    runId: asked.runId,
    callId: asked.callId,
    tool: asked.tool,
    argumentsHash: asked.argumentsHash,
    decision: answer === "deny" ? "deny" : "allow",
    step: "approval",
    rule: `answer: ${answer}`,
    reason: `${principal.id} ${WORDS[answer]} what ${asked.requestedBy} asked for.`,
    safetyLevel: asked.safetyLevel,
    trustTier: asked.trustTier,
    approvalId,
    traceId,
  });
  if (answered !== undefined) return answered;
  const now = await store.find(principal.organization, approvalId);
  throw approvalNotPending(approvalId, now?.state ?? asked.state);
}
