import type { ServiceImpl } from "@connectrpc/connect";
import type { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { awaitApproval, type AwaitApprovalPorts } from "../domain/approval/await-approval.ts";
import { demandDelegation } from "../domain/demand-delegation.ts";
import { encodeVerdict } from "./encode-verdict.ts";

export function awaitApprovalMethod(ports: AwaitApprovalPorts): ServiceImpl<typeof PolicyService>["awaitApproval"] {
  return async ({ approvalId }, context) => {
    const { delegation, traceId, signal } = callContext(context);
    return { verdict: encodeVerdict(await awaitApproval(ports, demandDelegation(delegation), traceId, approvalId, signal)) };
  };
}
