import type { ConnectRouter } from "@connectrpc/connect";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { DecideCallPorts } from "../domain/decide-call.ts";
import { createApprovalRenderer } from "../domain/approval/approval-renderer.ts";
import { answerApprovalMethod } from "./answer-approval.ts";
import { awaitApprovalMethod } from "./await-approval.ts";
import { decideMethod } from "./decide.ts";
import { getApprovalMethod } from "./get-approval.ts";
import { listApprovalsMethod } from "./list-approvals.ts";
import { queryMethod } from "./query.ts";
import { recordOutcomeMethod } from "./record-outcome.ts";
import { withdrawApprovalsMethod } from "./withdraw-approvals.ts";

export function policyRoutes(ports: DecideCallPorts): (router: ConnectRouter) => void {
  const render = createApprovalRenderer(ports);
  return (router) => {
    router.service(PolicyService, {
      decide: decideMethod(ports, render),
      awaitApproval: awaitApprovalMethod(ports),
      listApprovals: listApprovalsMethod(ports.approvals),
      getApproval: getApprovalMethod(ports.approvals, render),
      answerApproval: answerApprovalMethod(ports.approvals),
      withdrawApprovals: withdrawApprovalsMethod(ports.approvals),
    });
    router.service(AuditService, {
      recordOutcome: recordOutcomeMethod(ports.audit),
      query: queryMethod(ports.audit),
    });
  };
}
