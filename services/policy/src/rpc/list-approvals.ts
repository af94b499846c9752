import type { ServiceImpl } from "@connectrpc/connect";
import type { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { ApprovalStore } from "../domain/approval/approval-store.ts";
import { listApprovals } from "../domain/approval/list-approvals.ts";
import { demandPerson } from "../domain/demand-person.ts";
import { encodeApproval } from "./encode-approval.ts";

export function listApprovalsMethod(approvals: ApprovalStore): ServiceImpl<typeof PolicyService>["listApprovals"] {
  return async ({ sessionId }, context) => {
    const { principal, delegation } = callContext(context);
    demandPerson(delegation);
    const found = await listApprovals(approvals, principal, sessionId || undefined);
    return { approvals: found.map((approval) => encodeApproval(approval)) };
  };
}
