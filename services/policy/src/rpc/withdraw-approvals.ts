import type { ServiceImpl } from "@connectrpc/connect";
import type { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { ApprovalStore } from "../domain/approval/approval-store.ts";
import { demandDelegation } from "../domain/demand-delegation.ts";
import { withdrawApprovals } from "../domain/approval/withdraw-approvals.ts";

export function withdrawApprovalsMethod(approvals: ApprovalStore): ServiceImpl<typeof PolicyService>["withdrawApprovals"] {
  return async ({ runId }, context) => {
    const { principal, delegation, traceId } = callContext(context);
    demandDelegation(delegation, { runId });
    return { approvalIds: await withdrawApprovals(approvals, principal, traceId, runId) };
  };
}
