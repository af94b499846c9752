import type { ConnectRouter } from "@connectrpc/connect";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { RunPolicyService } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import type { DecideCallPorts } from "../domain/decide-call.ts";
import { createApprovalRenderer } from "../domain/approval/approval-renderer.ts";
import { answerApprovalMethod } from "./answer-approval.ts";
import { awaitApprovalMethod } from "./await-approval.ts";
import { decideMethod } from "./decide.ts";
import { getApprovalMethod } from "./get-approval.ts";
import { listApprovalsMethod } from "./list-approvals.ts";
import { queryMethod } from "./query.ts";
import { recordOutcomeMethod } from "./record-outcome.ts";
import { streamCallsMethod } from "./stream-calls.ts";
import { withdrawApprovalsMethod } from "./withdraw-approvals.ts";

export function policyRoutes(ports: DecideCallPorts): (router: ConnectRouter) => void {
  const render = createApprovalRenderer(ports);
  const decide = decideMethod(ports, render);
  const recordOutcome = recordOutcomeMethod(ports.audit);
  return (router) => {
    router.service(RunPolicyService, { streamCalls: streamCallsMethod(decide, recordOutcome) });
    router.service(PolicyService, {
      decide,
      awaitApproval: awaitApprovalMethod(ports),
      listApprovals: listApprovalsMethod(ports.approvals),
      getApproval: getApprovalMethod(ports.approvals, render),
      answerApproval: answerApprovalMethod(ports.approvals),
      withdrawApprovals: withdrawApprovalsMethod(ports.approvals),
    });
    router.service(AuditService, {
      recordOutcome,
      query: queryMethod(ports.audit),
    });
  };
}
