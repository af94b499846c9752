import type { ServiceImpl } from "@connectrpc/connect";
import type { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { WHOLE_RENDERING_BYTES, type RenderApproval } from "../domain/approval/approval-renderer.ts";
import type { ApprovalStore } from "../domain/approval/approval-store.ts";
import { getApproval } from "../domain/approval/get-approval.ts";
import { demandPerson } from "../domain/demand-person.ts";
import { encodeApproval } from "./encode-approval.ts";

export function getApprovalMethod(approvals: ApprovalStore, render: RenderApproval): ServiceImpl<typeof PolicyService>["getApproval"] {
  return async ({ approvalId }, context) => {
    const { principal, delegation } = callContext(context);
    demandPerson(delegation);
    const approval = await getApproval(approvals, principal, approvalId);
    return { approval: encodeApproval(approval, await render(approval, WHOLE_RENDERING_BYTES)) };
  };
}
