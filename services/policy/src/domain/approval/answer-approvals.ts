import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import { demandAuthority } from "../authority/authority.ts";
import type { Approval } from "./approval.ts";
import { answerApproval, type Answerer } from "./answer-approval.ts";
import type { ApprovalStore } from "./approval-store.ts";

export interface GivenAnswers {
  readonly approvals: readonly { readonly approvalId: string; readonly argumentsHash: string }[];
  readonly answer: "once" | "deny";
  readonly reason: string;
  readonly idempotencyKey?: string;
}

export type AnsweredOne =
  | { readonly approvalId: string; readonly approval: Approval }
  | { readonly approvalId: string; readonly refused: HlvmError };

/**
 * One answer to several actions, which each takes or refuses by itself, and each on record. What is allowed together is alike and
 * at most L1: a person who has seen one has seen what kind of thing the others are.
 * @throws HlvmError `role_missing`, `approvals_differ`, `hash_missing`; nothing is answered then
 */
export async function answerApprovals(
  store: ApprovalStore,
  answerer: Answerer,
  { approvals, answer, reason, idempotencyKey }: GivenAnswers,
): Promise<AnsweredOne[]> {
  const { principal } = answerer;
  demandAuthority(principal, "answer_approvals");
  if (answer === "once") await demandAlike(store, principal, approvals);
  const answered: AnsweredOne[] = [];
  for (const { approvalId, argumentsHash } of approvals) {
    const given = { approvalId, argumentsHash, answer, reason, idempotencyKey, text: "", delegation: "" };
    try {
      answered.push({ approvalId, approval: await answerApproval(store, answerer, given) });
    } catch (thrown) {
      if (!(thrown instanceof HlvmError)) throw thrown;
      answered.push({ approvalId, refused: thrown });
    }
  }
  return answered;
}

async function demandAlike(store: ApprovalStore, { organization }: Principal, given: GivenAnswers["approvals"]): Promise<void> {
  const unseen = given.find(({ argumentsHash }) => argumentsHash === "");
  if (unseen !== undefined)
    throw new HlvmError({
      code: "invalid_argument",
      reason: "hash_missing",
      message: `Nobody says what was shown of the approval ${unseen.approvalId}.`,
      advice: "Look at each, and send the hash of its arguments.",
    });
  let first: Approval | undefined;
  for (const { approvalId } of given) {
    const approval = await store.find(organization, approvalId);
    if (approval === undefined) continue;
    first ??= approval;
    const { kind, safetyLevel, tool, rule, step } = approval;
    if (kind !== "action" || safetyLevel === "L2") throw differ(`${approvalId} (${tool}, ${safetyLevel}) is answered by itself.`);
    if (tool !== first.tool || safetyLevel !== first.safetyLevel || step !== first.step || rule !== first.rule)
      throw differ(`${approvalId} (${tool}, ${rule}) is not like ${first.approvalId} (${first.tool}, ${first.rule}).`);
  }
}

function differ(message: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "approvals_differ",
    message,
    advice: "Allow together what has one tool and one rule and is at most L1, and the others one by one. Any may be denied together.",
  });
}
