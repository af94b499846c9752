import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { TokenResolverService, TokenService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { RunAnswersService, RunPolicyService } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { TrustService } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import { callContext, demandService } from "@hlvm/rpc/call-context";
import { answerApproval } from "../domain/approval/answer-approval.ts";
import type { ApprovalStore } from "../domain/approval/approval-store.ts";
import { awaitApproval, type AwaitApprovalPorts } from "../domain/approval/await-approval.ts";
import { getApproval } from "../domain/approval/get-approval.ts";
import { listApprovals } from "../domain/approval/list-approvals.ts";
import { watchAnswers } from "../domain/approval/watch-answers.ts";
import { withdrawApprovals } from "../domain/approval/withdraw-approvals.ts";
import type { AuditLog } from "../domain/audit/audit-log.ts";
import type { AuditReports } from "../domain/audit/audit-reports.ts";
import { recordBudgetChange } from "../domain/audit/record-budget-change.ts";
import { recordOutcome } from "../domain/audit/record-outcome.ts";
import type { DecideCallPorts } from "../domain/decide-call.ts";
import { createApprovalRenderer, WHOLE_RENDERING_BYTES, type RenderApproval } from "../domain/approval/approval-renderer.ts";
import { demandDelegation } from "../domain/demand-delegation.ts";
import { demandPerson } from "../domain/demand-person.ts";
import type { TokenStore } from "../domain/identity/token-store.ts";
import type { TrustStore } from "../domain/trust/trust-store.ts";
import { auditReportMethods } from "./audit-reports.ts";
import { decideMethod } from "./decide.ts";
import { settingsOfDelegation } from "./decode-settings.ts";
import { encodeApproval } from "./encode-approval.ts";
import { encodeVerdict } from "./encode-verdict.ts";
import { queryMethod, whoApprovedMethod } from "./query.ts";
import { refuseControlCharacters } from "./refuse-control-characters.ts";
import { streamCallsMethod } from "./stream-calls.ts";
import { tokenMethods, tokenResolverMethods } from "./tokens.ts";
import { trustMethods } from "./trust.ts";
import { answers, modes, outcomes, wordOf } from "./words.ts";

export interface PolicyPorts extends DecideCallPorts {
  readonly reports: AuditReports;
  readonly trust: TrustStore;
  readonly tokens: TokenStore;
}

export function policyRoutes(ports: PolicyPorts): (router: ConnectRouter) => void {
  const render = createApprovalRenderer(ports);
  const decide = decideMethod(ports, render);
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
      decide,
      awaitApproval: awaitApprovalMethod(ports),
      listApprovals: listApprovalsMethod(ports.approvals),
      getApproval: getApprovalMethod(ports.approvals, render),
      answerApproval: answerApprovalMethod(ports.approvals),
      withdrawApprovals: withdrawApprovalsMethod(ports.approvals),
    });
    router.service(TrustService, trustMethods(ports.trust));
    router.service(TokenService, tokenMethods(ports.tokens));
    router.service(TokenResolverService, tokenResolverMethods(ports.tokens));
    router.service(AuditService, {
      recordOutcome,
      recordBudgetChange: async ({ changeJson, ofOwnSession }, context) => {
        const { principal, delegation, traceId } = callContext(context);
        const { sessionId } = demandDelegation(delegation);
        refuseControlCharacters({ change_json: changeJson });
        return { id: await recordBudgetChange(ports.audit, principal, traceId, { json: changeJson, ofOwnSession, sessionId }) };
      },
      query: queryMethod(ports.audit),
      whoApproved: whoApprovedMethod(ports.audit),
      ...auditReportMethods(ports.reports),
    });
  };
}

function awaitApprovalMethod(ports: AwaitApprovalPorts): ServiceImpl<typeof PolicyService>["awaitApproval"] {
  return async ({ approvalId }, context) => {
    const { delegation: given, traceId, signal } = callContext(context);
    const delegation = demandDelegation(given);
    const run = { delegation, settings: settingsOfDelegation(delegation), traceId };
    return { verdict: encodeVerdict(await awaitApproval(ports, run, approvalId, signal)) };
  };
}

function listApprovalsMethod(approvals: ApprovalStore): ServiceImpl<typeof PolicyService>["listApprovals"] {
  return async ({ sessionId }, context) => {
    const { principal, delegation } = callContext(context);
    demandPerson(delegation);
    const found = await listApprovals(approvals, principal, sessionId || undefined);
    return { approvals: found.map((approval) => encodeApproval(approval)) };
  };
}

function getApprovalMethod(approvals: ApprovalStore, render: RenderApproval): ServiceImpl<typeof PolicyService>["getApproval"] {
  return async ({ approvalId }, context) => {
    const { principal, delegation } = callContext(context);
    demandPerson(delegation);
    const approval = await getApproval(approvals, principal, approvalId);
    return { approval: encodeApproval(approval, await render(approval, WHOLE_RENDERING_BYTES)) };
  };
}

function answerApprovalMethod(approvals: ApprovalStore): ServiceImpl<typeof PolicyService>["answerApproval"] {
  return async ({ approvalId, answer, argumentsHash, text, mode, delegation: signed }, context) => {
    const { principal, delegation, traceId } = callContext(context);
    demandPerson(delegation);
    // Where no answer was given the request was refused before; should it come here, it is a no.
    const word = wordOf(answers, answer) ?? "deny";
    const said = { text, mode: wordOf(modes, mode), delegation: signed };
    return {
      approval: encodeApproval(await answerApproval(approvals, principal, traceId, { approvalId, answer: word, argumentsHash, ...said })),
    };
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
  return async ({ sessionId, runId, callId, status, summary, durationMilliseconds }, context) => {
    const { principal, delegation, traceId } = callContext(context);
    demandDelegation(delegation, { sessionId, runId });
    refuseControlCharacters({ call_id: callId });
    const outcome = { sessionId, runId, callId, status: wordOf(outcomes, status) ?? "failed", summary, durationMilliseconds };
    return { id: await recordOutcome(audit, principal, traceId, outcome) };
  };
}
