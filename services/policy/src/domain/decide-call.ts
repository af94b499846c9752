import { randomUUID } from "node:crypto";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import type { ApprovalStore } from "./approval/approval-store.ts";
import type { AuditLog } from "./audit/audit-log.ts";
import { callEvent } from "./audit/call-event.ts";
import { decide } from "./decide/decide.ts";
import type { PermissionSettings, Ruling } from "./decide/decision.ts";
import type { ResolvedCall } from "./decide/question.ts";
import { resolveCall, type AskedCall, type FindTool } from "./decide/resolve-call.ts";
import { enforcementOf } from "./enforcement.ts";
import type { JudgeCall } from "./judge/call-judgement.ts";
import { POLICY_VERSION } from "./policy-version.ts";
import type { SignGrant } from "./sign-grant.ts";
import type { Verdict } from "./verdict.ts";

export interface DecideCallPorts {
  readonly audit: AuditLog;
  readonly approvals: ApprovalStore;
  readonly findTool: FindTool;
  readonly judgeCall: JudgeCall;
  readonly signGrant: SignGrant;
  readonly approvalSeconds: number;
}

/**
 * Decides on one call. The decision is committed to the audit log before it is told; where that fails there is no grant.
 *
 * A call is decided once. The same call asked again (same person, tool and arguments, as after a lost answer) gets the
 * deny that was recorded, or the approval that still waits; a call that was allowed gets no second grant, nor does the
 * same call id with anything else in it.
 * @throws HlvmError `call_already_decided`
 */
export async function decideCall(
  ports: DecideCallPorts,
  principal: Principal,
  traceId: string,
  call: AskedCall,
  settings: PermissionSettings,
): Promise<Verdict> {
  const resolved = await resolveCall(call, principal, ports.findTool, ports.judgeCall);
  const isResolved = "definition" in resolved;
  const ruling = isResolved ? await rule(ports, principal, call, resolved, settings) : resolved;
  const known = isResolved ? resolved : undefined;
  const verdict: Verdict = isResolved
    ? { ...ruling, safetyLevel: resolved.judgement.level, trustTier: resolved.definition.trustTier }
    : ruling;

  const described = { principal, call, resolved: known, ruling, mode: settings.mode, traceId } as const;
  if (ruling.decision === "ask" && known !== undefined) {
    const approvalId = randomUUID();
    const event = { ...callEvent({ ...described, kind: "approval_requested" }), approvalId };
    const approval = await ports.approvals.request(
      requestOf(approvalId, principal, call, known, settings, ruling),
      ports.approvalSeconds,
      event,
    );
    return approval === undefined ? decidedBefore(ports, principal, call, known) : { ...verdict, approval };
  }
  if (!(await ports.audit.appendIntent(callEvent({ ...described, kind: "intent" })))) return decidedBefore(ports, principal, call, known);
  if (ruling.decision !== "allow" || known === undefined) return verdict;
  return { ...verdict, grant: ports.signGrant(grantOf(principal, call, known)) };
}

/** What a person allowed for the session is looked up only where it could change the answer. */
async function rule(
  { approvals }: DecideCallPorts,
  { organization }: Principal,
  { sessionId }: AskedCall,
  call: ResolvedCall,
  settings: PermissionSettings,
): Promise<Ruling> {
  const ruling = decide({ call, settings, allowances: [] });
  if (ruling.step !== "mode" || ruling.decision === "allow") return ruling;
  const allowances = await approvals.allowances(organization, sessionId, call.definition.name);
  return allowances.length === 0 ? ruling : decide({ call, settings, allowances });
}

function grantOf(principal: Principal, call: AskedCall, resolved: ResolvedCall): Parameters<SignGrant>[0] {
  return {
    organization: principal.organization,
    principal: principal.id,
    sessionId: call.sessionId,
    runId: call.runId,
    callId: call.callId,
    tool: resolved.definition.name,
    definitionHash: resolved.definitionHash,
    argumentsHash: resolved.arguments.hash,
    policyVersion: POLICY_VERSION,
    ...enforcementOf(resolved.definition, resolved.judgement.level, resolved.arguments.value),
  };
}

function requestOf(
  approvalId: string,
  principal: Principal,
  call: AskedCall,
  resolved: ResolvedCall,
  settings: PermissionSettings,
  ruling: Ruling,
): Parameters<ApprovalStore["request"]>[0] {
  return {
    approvalId,
    organization: principal.organization,
    sessionId: call.sessionId,
    runId: call.runId,
    callId: call.callId,
    tool: resolved.definition.name,
    definitionHash: resolved.definitionHash,
    argumentsJson: resolved.arguments.json,
    argumentsHash: resolved.arguments.hash,
    safetyLevel: resolved.judgement.level,
    trustTier: resolved.definition.trustTier,
    mode: settings.mode,
    scope: resolved.judgement.scope,
    step: ruling.step,
    rule: ruling.rule,
    reason: ruling.reason,
    requestedBy: principal.id,
  };
}

async function decidedBefore(
  ports: DecideCallPorts,
  principal: Principal,
  call: AskedCall,
  resolved: ResolvedCall | undefined,
): Promise<Verdict> {
  const { organization } = principal;
  const approval = await ports.approvals.findByCall(organization, call.sessionId, call.callId);
  if (
    approval?.state === "pending" &&
    approval.requestedBy === principal.id &&
    approval.runId === call.runId &&
    approval.tool === call.tool &&
    approval.argumentsHash === resolved?.arguments.hash
  ) {
    const { step, rule, reason, safetyLevel, trustTier } = approval;
    return { decision: "ask", step, rule, reason, safetyLevel, trustTier, approval };
  }
  const intent = approval === undefined ? await ports.audit.findIntent(organization, call.sessionId, call.callId) : undefined;
  const event = intent?.event;
  if (
    event?.decision === "deny" &&
    event.principal === principal.id &&
    event.runId === call.runId &&
    event.tool === call.tool &&
    resolved !== undefined &&
    event.argumentsHash === resolved.arguments.hash
  ) {
    const { step = "definition", rule = "", reason = "", safetyLevel, trustTier } = event;
    return { decision: "deny", step, rule, reason, safetyLevel, trustTier };
  }
  throw new HlvmError({
    code: "already_exists",
    reason: "call_already_decided",
    message: `The call ${call.callId} of this session was decided before.`,
    advice: "Give every call an id of its own; a call that was allowed gets no second grant.",
  });
}
