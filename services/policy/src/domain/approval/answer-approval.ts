import type { Principal } from "@hlvm/identity/principal";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { demandAuthority, hasAuthority, mayAnswer, type FourEyes } from "../authority/authority.ts";
import type { Approval, ApprovalAnswer } from "./approval.ts";
import { previewHash } from "./attach-preview.ts";
import { approvalNotFound, approvalNotPending, argumentsDiffer, previewDiffers } from "./approval-errors.ts";
import type { ApprovalStore } from "./approval-store.ts";
import { redactText } from "../audit/redact-text.ts";
import { checkAnswer, checkReason, type PersonAnswer } from "./person-answer.ts";

const WORDS: Readonly<Record<ApprovalAnswer, string>> = { once: "allowed once", session: "allowed for the session", deny: "denied" };

/** Of what was said, in the audit log. */
const RECORDED_LENGTH = 4_000;

export interface GivenAnswer extends PersonAnswer {
  readonly approvalId: string;
  readonly answer: ApprovalAnswer;
  /** Of the arguments that the person was shown; empty where the client does not say. */
  readonly argumentsHash: string;
  /** Of the preview that the person was shown; empty where the client does not say. */
  readonly previewHash?: string;
  /** Why an action is answered so, in the person's words; empty where they do not say. */
  readonly reason: string;
  /** Chosen by the client for this answer. */
  readonly idempotencyKey?: string;
}

/** Who answers, and of which levels nobody allows what they asked for themselves. */
export interface Answerer {
  readonly principal: Principal;
  readonly traceId: string;
  readonly fourEyes: FourEyes;
}

/** Why somebody cannot allow an action; empty where they can. */
export function whyNotAnswerable(approval: Approval, principal: Principal, fourEyes: FourEyes): string {
  if (approval.kind !== "action" || approval.state !== "pending") return "";
  if (!hasAuthority(principal, "answer_approvals")) return "Somebody with the role approver or admin answers this.";
  return mayAnswer(principal, answeredBy(principal, approval), fourEyes) ? "" : ownRequest(approval).message;
}

/**
 * A person's answer, recorded with their name in the same commit. What a run may do takes a role; what a run asks of the person
 * who started it, that person answers without one. An answer that is given again with its key, since nobody heard what came of
 * it, comes to the same, and is not recorded twice.
 * @throws HlvmError `role_missing`, `own_request`, `approval_not_found`, `arguments_differ`, `preview_differs`, `answer_unfit`, `plan_of_another`, `approval_not_pending`, `approval_withdrawn`
 */
export async function answerApproval(store: ApprovalStore, answerer: Answerer, given: GivenAnswer): Promise<Approval> {
  const { principal, traceId, fourEyes } = answerer;
  const { approvalId, answer, argumentsHash } = given;
  const asked = await store.find(principal.organization, approvalId);
  const isAskedOfThem = asked !== undefined && asked.kind !== "action" && asked.requestedBy === principal.id;
  if (!isAskedOfThem) demandAuthority(principal, "answer_approvals");
  if (asked === undefined) throw approvalNotFound(approvalId);
  if (answer !== "deny" && asked.kind === "action" && !mayAnswer(principal, answeredBy(principal, asked), fourEyes))
    throw ownRequest(asked);
  if (argumentsHash !== "" && argumentsHash !== asked.argumentsHash) throw argumentsDiffer(approvalId);
  const { previewHash: shown = "" } = given;
  if (answer !== "deny" && shown !== "" && shown !== previewHash(asked)) throw previewDiffers(approvalId);
  checkAnswer(asked, principal.id, answer, given);
  checkReason(asked.kind, given.reason);
  const kept = asked.kind === "action" ? { ...given, text: redactText(given.reason, RECORDED_LENGTH) } : given;
  const answered = await store.answer(principal.organization, approvalId, kept, {
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
    reason: reasonOf(asked, principal.id, given),
    safetyLevel: asked.safetyLevel,
    trustTier: asked.trustTier,
    approvalId,
    traceId,
  });
  if (answered !== undefined) return answered;
  const now = await store.find(principal.organization, approvalId);
  if (now !== undefined && isRepeated(now, principal, given)) return now;
  throw approvalNotPending(approvalId, now?.state ?? asked.state);
}

function answeredBy({ id }: Principal, { requestedBy, safetyLevel: level }: Approval) {
  return { isOwn: requestedBy === id, level };
}

function ownRequest({ requestedBy, safetyLevel }: Approval): HlvmError {
  return new HlvmError({
    code: "permission_denied",
    reason: "own_request",
    message: `${requestedBy} asked for this themselves, and ${safetyLevel} takes four eyes: somebody else with the role approver or admin allows it.`,
    advice: "Ask one of them; deny it, or stop the run, where it is not wanted any more.",
  });
}

function isRepeated(now: Approval, { id }: Principal, { answer, idempotencyKey }: GivenAnswer): boolean {
  return idempotencyKey !== undefined && now.answerKey === idempotencyKey && now.answeredBy === id && now.answer === answer;
}

function reasonOf({ kind, requestedBy }: Approval, answeredBy: string, { answer, text, mode, reason }: GivenAnswer): string {
  if (kind === "action") {
    const why = reason === "" ? "." : `: ${redactText(reason, RECORDED_LENGTH)}`;
    return `${answeredBy} ${WORDS[answer]} what ${requestedBy} asked for${why}`;
  }
  const said = text === "" ? "." : `: ${redactText(text, RECORDED_LENGTH)}`;
  if (kind === "question") return `${answeredBy} ${answer === "deny" ? "declined to answer" : "answered"}${said}`;
  return answer === "deny"
    ? `${answeredBy} rejected the plan${said}`
    : `${answeredBy} accepted the plan, to go on in the mode ${mode}${said}`;
}
