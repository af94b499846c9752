import { canonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import { canonicalJson, type JsonValue } from "@hlvm/canonical-json/canonical-json";
import type { Delegation } from "@hlvm/identity/delegation";
import { definitionHash } from "@hlvm/tools/definition-hash";
import type { AuditEvent } from "../audit/audit-event.ts";
import { redactValue } from "../audit/redact-value.ts";
import { demandAuthority } from "../authority/authority.ts";
import { demandDelegation } from "../demand-delegation.ts";
import { enforcementOf } from "../enforcement.ts";
import type { PermissionSettings, Ruling } from "../decide/decision.ts";
import { resolveCall, type FindTool } from "../decide/resolve-call.ts";
import type { JudgeCall } from "../judge/call-judgement.ts";
import { recordedDeny, renewGrant, type RenewGrantPorts } from "../renew-grant.ts";
import { POLICY_VERSION } from "../policy-version.ts";
import type { Verdict } from "../verdict.ts";
import type { Approval } from "./approval.ts";
import { approvalNotFound, approvalUsed } from "./approval-errors.ts";
import type { ApprovalStore } from "./approval-store.ts";
import { withAnswer } from "./with-answer.ts";

export interface AwaitApprovalPorts extends RenewGrantPorts {
  readonly findTool: FindTool;
  readonly judgeCall: JudgeCall;
}

/** The run that waits, by what right, and under which settings. */
export interface WaitingRun {
  readonly delegation: Delegation;
  readonly settings: PermissionSettings;
  readonly traceId: string;
}

/**
 * Waits until an approval is answered, withdrawn or expires, then takes the answer: the decision is committed to the audit log with
 * it, and only then is a grant signed. Only the run that asked may wait, and an answer is taken once: whoever comes second, be it
 * the same run in other hands, gets what `renewGrant` says. A denial is told as often as it is asked for. A caller that leaves
 * changes nothing and may come again.
 * @throws HlvmError `approval_not_found`, `approval_used`, `call_already_decided`, `role_missing`, `delegation_differs`
 */
export async function awaitApproval(ports: AwaitApprovalPorts, run: WaitingRun, approvalId: string, signal: AbortSignal): Promise<Verdict> {
  const { delegation, traceId } = run;
  const { principal } = delegation;
  demandAuthority(principal, "run_tools");
  const approval = await untilSettled(ports.approvals, delegation, approvalId, signal);
  signal.throwIfAborted();
  const ruling = rulingOn(approval, ports.findTool);
  const isFirst = !approval.isUsed && (await ports.approvals.use(principal.organization, approvalId, intentOf(approval, ruling, traceId)));
  if (!isFirst && approval.state === "approved") return withAnswer(await takenBefore(ports, run, approval), approval);
  const verdict = { ...ruling, safetyLevel: approval.safetyLevel, trustTier: approval.trustTier };
  if (ruling.decision !== "allow") return verdict;
  const { sessionId, runId, callId, tool, argumentsHash } = approval;
  const grant = ports.signGrant({
    organization: approval.organization,
    principal: approval.requestedBy,
    sessionId,
    runId,
    callId,
    tool,
    definitionHash: approval.definitionHash,
    argumentsHash,
    policyVersion: POLICY_VERSION,
    ...enforcementOf(ports.findTool(tool)!, approval.safetyLevel, canonicalArguments(approval.argumentsJson).value),
    ...(approval.preview === undefined ? {} : { expectedSha256: approval.preview.presentSha256 }),
  });
  return withAnswer({ ...verdict, grant }, approval);
}

async function takenBefore(ports: AwaitApprovalPorts, { delegation, settings, traceId }: WaitingRun, approval: Approval): Promise<Verdict> {
  const { principal } = delegation;
  const { approvalId, sessionId, runId, callId, tool, argumentsJson, definitionHash: hash } = approval;
  if (argumentsJson === "") {
    // It was denied when the answer was taken, or has its outcome; or it is long ago.
    const recorded = await ports.audit.findCall(principal.organization, sessionId, callId);
    const denied = recorded?.intent.approvalId === approvalId ? recordedDeny(recorded) : undefined;
    if (denied === undefined) throw approvalUsed(approvalId);
    return denied;
  }
  const call = { sessionId, runId, callId, tool, argumentsJson, definitionHash: hash };
  const resolved = await resolveCall(call, principal, ports.findTool, ports.judgeCall);
  const asked = { principal, call, settings, traceId, expectedSha256: approval.preview?.presentSha256 };
  return renewGrant(ports, asked, resolved);
}

async function untilSettled(store: ApprovalStore, delegation: Delegation, approvalId: string, signal: AbortSignal): Promise<Approval> {
  const { principal } = delegation;
  // Watching begins before the first look: an answer in between is not missed.
  using watch = store.watch(approvalId);
  for (;;) {
    const approval = await store.find(principal.organization, approvalId);
    if (approval === undefined || approval.requestedBy !== principal.id) throw approvalNotFound(approvalId);
    demandDelegation(delegation, approval);
    if (approval.state !== "pending") return approval;
    await watch.change(Math.max(approval.expiresAt.getTime() - Date.now(), 0) + 10, signal);
  }
}

function rulingOn(approval: Approval, findTool: FindTool): Ruling {
  const step = "approval";
  if (approval.state === "expired") return { decision: "deny", step, rule: "approval: expired", reason: "Nobody answered in time." };
  if (approval.state === "withdrawn")
    return { decision: "deny", step, rule: "approval: withdrawn", reason: "The run that asked for it ended before anybody answered." };
  const answeredBy = approval.answeredBy ?? "somebody";
  if (approval.state === "denied")
    return { decision: "deny", step, rule: `approval: denied by ${answeredBy}`, reason: deniedReason(approval, answeredBy) };
  if (approval.argumentsJson === "")
    return { decision: "deny", step, rule: "approval: expired", reason: "Nobody took the answer in time." };
  const definition = findTool(approval.tool);
  if (definition === undefined || definitionHash(definition) !== approval.definitionHash)
    return {
      decision: "deny",
      step: "definition",
      rule: "tool: definition changed",
      reason: `The definition of ${approval.tool} changed after it was approved.`,
    };
  const words = approval.answer === "session" ? "for the session" : "once";
  return {
    decision: "allow",
    step,
    rule: `approval: ${approval.answer ?? "once"} by ${answeredBy}`,
    reason: approval.kind === "action" ? `${answeredBy} allowed it ${words}.` : `${answeredBy} answered.`,
  };
}

function deniedReason({ kind, answerText = "" }: Approval, answeredBy: string): string {
  const what = { action: "denied it", plan: "rejected the plan", question: "did not answer" }[kind];
  return answerText === "" ? `${answeredBy} ${what}.` : `${answeredBy} ${what}: ${answerText}`;
}

function intentOf(approval: Approval, ruling: Ruling, traceId: string): AuditEvent {
  return {
    kind: "intent",
    at: new Date().toISOString(),
    organization: approval.organization,
    principal: approval.requestedBy,
    sessionId: approval.sessionId,
    runId: approval.runId,
    callId: approval.callId,
    tool: approval.tool,
    ...(approval.argumentsJson === "" ? {} : { arguments: canonicalJson(redactValue(JSON.parse(approval.argumentsJson) as JsonValue)) }),
    argumentsHash: approval.argumentsHash,
    definitionHash: approval.definitionHash,
    ...ruling,
    mode: approval.mode,
    safetyLevel: approval.safetyLevel,
    trustTier: approval.trustTier,
    approvalId: approval.approvalId,
    policyVersion: POLICY_VERSION,
    traceId,
  };
}
