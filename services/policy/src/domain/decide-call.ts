import { randomUUID } from "node:crypto";
import type { ApprovalStore } from "./approval/approval-store.ts";
import { withAnswer } from "./approval/with-answer.ts";
import { callEvent } from "./audit/call-event.ts";
import { outcomeEvent } from "./audit/outcome-event.ts";
import { callAlreadyDecided } from "./call-already-decided.ts";
import { callIdentity, isSameCall } from "./call-identity.ts";
import type { Ruling } from "./decide/decision.ts";
import type { ResolvedCall } from "./decide/question.ts";
import { resolveCall, type FindTool } from "./decide/resolve-call.ts";
import type { JudgeCall } from "./judge/call-judgement.ts";
import { renewGrant, type RenewGrantPorts } from "./renew-grant.ts";
import { ruleOnCall, type AskedDecision } from "./rule-on-call.ts";
import { signGrantFor } from "./sign-grant.ts";
import type { Verdict } from "./verdict.ts";

export interface Decided {
  readonly verdict: Verdict;
  /** Of the ended calls whose outcomes were committed with the decision. */
  readonly recordedCallIds: readonly string[];
}

export interface DecideCallPorts extends RenewGrantPorts {
  readonly findTool: FindTool;
  readonly judgeCall: JudgeCall;
  readonly approvalSeconds: number;
}

/**
 * Decides on one call. The decision is committed to the audit log before it is told; where that fails there is no grant.
 *
 * A call is decided once. The very same call asked again (same person, run, tool, definition and arguments, as after a lost
 * answer, or when its run was taken over) gets the deny that was recorded, the approval whose answer was not taken, or where it
 * was allowed and has no outcome yet what `renewGrant` says. The same call id with anything else in it gets nothing.
 * Where the decision is one that nobody has to be asked about, what came of earlier calls is committed with it.
 * @throws HlvmError `call_already_decided`
 */
export async function decideCall(ports: DecideCallPorts, asked: AskedDecision): Promise<Decided> {
  const { principal, call, settings, traceId, ended = [] } = asked;
  const resolved = await resolveCall(call, principal, ports.findTool, ports.judgeCall);
  const isResolved = "definition" in resolved;
  const ruling = isResolved ? await ruleOnCall(ports.approvals, asked, resolved) : resolved;
  const known = isResolved ? resolved : undefined;
  const verdict: Verdict = isResolved
    ? { ...ruling, safetyLevel: resolved.judgement.level, trustTier: resolved.definition.trustTier }
    : ruling;

  const described = { principal, call, resolved: known, ruling, mode: settings.mode, traceId } as const;
  if (ruling.decision === "ask" && known !== undefined) {
    const approvalId = randomUUID();
    const event = { ...callEvent({ ...described, kind: "approval_requested" }), approvalId };
    const approval = await ports.approvals.request(requestOf(approvalId, asked, known, ruling), ports.approvalSeconds, event);
    const reached = approval === undefined ? await decidedBefore(ports, asked, resolved) : { ...verdict, approval };
    return { verdict: reached, recordedCallIds: [] };
  }
  const outcomes = ended.map((outcome) => outcomeEvent(principal, traceId, outcome));
  const { isAppended, recordedCallIds } = await ports.audit.appendIntent(callEvent({ ...described, kind: "intent" }), outcomes);
  if (!isAppended) return { verdict: await decidedBefore(ports, asked, resolved), recordedCallIds };
  if (ruling.decision !== "allow" || known === undefined) return { verdict, recordedCallIds };
  return { verdict: { ...verdict, grant: signGrantFor(ports.signGrant, principal, call, known) }, recordedCallIds };
}

function requestOf(
  approvalId: string,
  { principal, call, settings }: AskedDecision,
  resolved: ResolvedCall,
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
    kind: resolved.definition.asksPerson ?? "action",
    ...(resolved.definition.asksPerson === "plan" ? { settings } : {}),
  };
}

/** An approval of the very same call whose answer was not taken: whoever waits for it is told. Else what was decided stands. */
async function decidedBefore(ports: DecideCallPorts, asked: AskedDecision, resolved: ResolvedCall | Ruling): Promise<Verdict> {
  const { principal, call } = asked;
  const approval = await ports.approvals.findByCall(principal.organization, call.sessionId, call.callId);
  if (approval === undefined) return renewGrant(ports, asked, resolved);
  if (approval.isUsed)
    return withAnswer(await renewGrant(ports, { ...asked, expectedSha256: approval.preview?.presentSha256 }, resolved), approval);
  if (!isSameCall({ ...approval, principal: approval.requestedBy }, callIdentity(principal, call)))
    throw callAlreadyDecided(call.callId, "another_call");
  const { step, rule, reason, safetyLevel, trustTier } = approval;
  return { decision: "ask", step, rule, reason, safetyLevel, trustTier, approval };
}
