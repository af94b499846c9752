import type { Principal } from "@hlvm/identity/principal";
import { hasAuthority } from "../authority/authority.ts";
import type { Approval } from "./approval.ts";
import { approvalNotFound } from "./approval-errors.ts";
import type { ApprovalStore } from "./approval-store.ts";

/**
 * One approval, in whatever state, for who may answer it or asked for it.
 * @throws HlvmError `approval_not_found`
 */
export async function getApproval(store: ApprovalStore, principal: Principal, approvalId: string): Promise<Approval> {
  const approval = await store.find(principal.organization, approvalId);
  if (approval === undefined || (approval.requestedBy !== principal.id && !hasAuthority(principal, "answer_approvals")))
    throw approvalNotFound(approvalId);
  return approval;
}
