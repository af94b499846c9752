import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { TeamResolverService, TeamService, TokenResolverService, TokenService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { DeviceService, LoginService } from "@hlvm/proto/hlvm/identity/v1/login_pb";
import { MemberService } from "@hlvm/proto/hlvm/identity/v1/member_pb";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { RunAnswersService, RunPolicyService } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { TrustService } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import { callContext, demandService } from "@hlvm/rpc/call-context";
import type { ApprovalStore } from "../domain/approval/approval-store.ts";
import { attachPreview } from "../domain/approval/attach-preview.ts";
import { awaitApproval, type AwaitApprovalPorts } from "../domain/approval/await-approval.ts";
import { watchAnswers } from "../domain/approval/watch-answers.ts";
import { withdrawApprovals } from "../domain/approval/withdraw-approvals.ts";
import type { AuditLog } from "../domain/audit/audit-log.ts";
import type { AuditReports } from "../domain/audit/audit-reports.ts";
import { recordAdministration } from "../domain/audit/record-administration.ts";
import { recordBudgetChange } from "../domain/audit/record-budget-change.ts";
import { recordOutcome } from "../domain/audit/record-outcome.ts";
import type { DecideCallPorts } from "../domain/decide-call.ts";
import { createApprovalRenderer } from "../domain/approval/approval-renderer.ts";
import type { FourEyes } from "../domain/authority/authority.ts";
import { demandDelegation } from "../domain/demand-delegation.ts";
import { CurrentRoles } from "../domain/identity/current-roles.ts";
import type { TeamStore } from "../domain/identity/team-store.ts";
import type { TokenStore } from "../domain/identity/token-store.ts";
import type { TrustStore } from "../domain/trust/trust-store.ts";
import { approvalMethods } from "./approvals.ts";
import { auditReportMethods } from "./audit-reports.ts";
import { encodePreview } from "./encode-approval.ts";
import { decideMethod, judgeCallsMethod } from "./decide.ts";
import { decodeOutcome } from "./decode-outcome.ts";
import { settingsOfDelegation } from "./decode-settings.ts";
import { deviceMethods } from "./devices.ts";
import { encodeVerdict } from "./encode-verdict.ts";
import { loginMethods, type LoginPorts } from "./logins.ts";
import { recordModelCallMethod } from "./record-model-call.ts";
import { memberMethods } from "./members.ts";
import { queryMethod, whoApprovedMethod } from "./query.ts";
import { refuseControlCharacters } from "./refuse-control-characters.ts";
import { grantWorkspaceMethod, sharingRecordMethods, type WorkspaceGrantPorts } from "./sharing.ts";
import { streamCallsMethod } from "./stream-calls.ts";
import { teamMethods, teamResolverMethods } from "./teams.ts";
import { tokenMethods, tokenResolverMethods } from "./tokens.ts";
import { trustMethods } from "./trust.ts";

export interface PolicyPorts extends DecideCallPorts, LoginPorts, WorkspaceGrantPorts {
  readonly reports: AuditReports;
  readonly trust: TrustStore;
  readonly tokens: TokenStore;
  readonly teams: TeamStore;
  readonly fourEyes: FourEyes;
}

export function policyRoutes(ports: PolicyPorts): (router: ConnectRouter) => void {
  const render = createApprovalRenderer(ports);
  const roles = new CurrentRoles(ports.members);
  const decide = decideMethod(ports, render, roles);
  const recordOutcome = recordOutcomeMethod(ports.audit);
  return (router) => {
    router.service(RunPolicyService, { streamCalls: streamCallsMethod(decide, recordOutcome) });
    router.service(RunAnswersService, {
      async *watchAnswers(_request, context) {
        demandService(context, "orchestrator");
        for await (const runIds of watchAnswers(ports.approvals, context.signal)) yield { runIds };
      },
    });
    router.service(PolicyService, {
      decide: async (request, context) => (await decide(request, context)).response,
      judgeCalls: judgeCallsMethod(ports, roles),
      awaitApproval: awaitApprovalMethod(ports, roles),
      ...approvalMethods(ports.approvals, render, ports.fourEyes),
      attachPreview: async ({ approvalId, presentSha256, presentBytes, diff }, context) => {
        const delegation = demandDelegation(callContext(context).delegation);
        const preview = { presentSha256, presentBytes: Number(presentBytes), diff };
        return { preview: encodePreview(await attachPreview(ports.approvals, delegation, approvalId, preview), false) };
      },
      withdrawApprovals: withdrawApprovalsMethod(ports.approvals),
      grantWorkspace: grantWorkspaceMethod(ports),
    });
    router.service(TrustService, trustMethods(ports.trust));
    router.service(TokenService, tokenMethods(ports.tokens));
    router.service(TokenResolverService, tokenResolverMethods(ports.tokens));
    router.service(TeamService, teamMethods(ports.teams));
    router.service(TeamResolverService, teamResolverMethods(ports.teams));
    router.service(MemberService, memberMethods(ports.members));
    router.service(LoginService, loginMethods(ports));
    router.service(DeviceService, deviceMethods(ports.devices));
    router.service(AuditService, {
      recordOutcome,
      recordBudgetChange: async ({ changeJson, ofOwnSession }, context) => {
        const { principal, delegation, traceId } = callContext(context);
        const { sessionId } = demandDelegation(delegation);
        refuseControlCharacters({ change_json: changeJson });
        return { id: await recordBudgetChange(ports.audit, principal, traceId, { json: changeJson, ofOwnSession, sessionId }) };
      },
      recordModelCall: recordModelCallMethod(ports.audit),
      recordAdministration: async ({ method, requestJson }, context) => {
        const { principal, traceId } = callContext(context);
        refuseControlCharacters({ method, request_json: requestJson });
        return { id: await recordAdministration(ports.audit, principal, traceId, { method, requestJson }) };
      },
      ...sharingRecordMethods(ports.shares),
      query: queryMethod(ports.audit),
      whoApproved: whoApprovedMethod(ports.audit),
      ...auditReportMethods(ports.reports),
    });
  };
}

function awaitApprovalMethod(ports: AwaitApprovalPorts, roles: CurrentRoles): ServiceImpl<typeof PolicyService>["awaitApproval"] {
  return async ({ approvalId }, context) => {
    const { delegation: given, traceId, signal } = callContext(context);
    const delegated = demandDelegation(given);
    const delegation = { ...delegated, principal: await roles.within(delegated.principal) };
    const run = { delegation, settings: settingsOfDelegation(delegation), traceId };
    return { verdict: encodeVerdict(await awaitApproval(ports, run, approvalId, signal)) };
  };
}

function withdrawApprovalsMethod(approvals: ApprovalStore): ServiceImpl<typeof PolicyService>["withdrawApprovals"] {
  return async ({ runId }, context) => {
    const { principal, delegation, traceId } = callContext(context);
    demandDelegation(delegation, { runId });
    return { approvalIds: await withdrawApprovals(approvals, principal, traceId, runId) };
  };
}

function recordOutcomeMethod(audit: AuditLog): ServiceImpl<typeof AuditService>["recordOutcome"] {
  return async (request, context) => {
    const { principal, delegation, traceId } = callContext(context);
    demandDelegation(delegation, { sessionId: request.sessionId, runId: request.runId });
    return { id: await recordOutcome(audit, principal, traceId, decodeOutcome(request)) };
  };
}
