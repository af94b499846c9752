import type { Principal } from "@hlvm/identity/principal";
import { hasAuthority } from "../authority.ts";
import type { Approval } from "./approval.ts";
import type { ApprovalStore } from "./approval-store.ts";

/** What waits for an answer: all of the organization for who may answer it; to others, what their own runs ask for. */
export async function listApprovals(store: ApprovalStore, principal: Principal, sessionId: string | undefined): Promise<Approval[]> {
  const mayAnswer = hasAuthority(principal, "answer_approvals");
  return store.pending(principal.organization, { sessionId, ...(mayAnswer ? {} : { requestedBy: principal.id }) });
}
