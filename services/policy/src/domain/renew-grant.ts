import type { ApprovalStore } from "./approval/approval-store.ts";
import type { AuditEvent } from "./audit/audit-event.ts";
import type { AuditLog, RecordedCall } from "./audit/audit-log.ts";
import { callEvent } from "./audit/call-event.ts";
import { callAlreadyDecided } from "./call-already-decided.ts";
import { callIdentity, isSameCall } from "./call-identity.ts";
import { decide } from "./decide/decide.ts";
import type { Ruling } from "./decide/decision.ts";
import type { ResolvedCall } from "./decide/question.ts";
import { ruleOnCall, type AskedDecision } from "./rule-on-call.ts";
import { signGrantFor, type SignGrant } from "./sign-grant.ts";
import type { Verdict } from "./verdict.ts";

export interface RenewGrantPorts {
  readonly audit: AuditLog;
  readonly approvals: ApprovalStore;
  readonly signGrant: SignGrant;
}

/**
 * What a call gets that has its decision already and is asked for again: after a lost answer, or by who took over its run. Only
 * the very same call gets anything. A deny stands. What was allowed and has no outcome is ruled on anew, since the rules may have
 * become stricter, and gets another grant: the executors run a call id once, so a second grant has no second effect. As with
 * the first, the event is committed before the grant is told.
 * @param resolved the call as step 1 reads it now, or why it denies
 * @throws HlvmError `call_already_decided`
 */
export async function renewGrant(ports: RenewGrantPorts, asked: AskedDecision, resolved: ResolvedCall | Ruling): Promise<Verdict> {
  const { principal, call, settings, traceId } = asked;
  const find = (): Promise<RecordedCall | undefined> => ports.audit.findCall(principal.organization, call.sessionId, call.callId);
  const recorded = await find();
  if (recorded === undefined || !isSameCall(recorded.intent, callIdentity(principal, call)))
    throw callAlreadyDecided(call.callId, "another_call");
  const denied = recordedDeny(recorded);
  if (denied !== undefined) return denied;

  const { intent } = recorded;
  const known = "definition" in resolved ? asAnswered(resolved, intent) : undefined;
  const ruling = "definition" in resolved ? await ruleAnew(ports.approvals, asked, resolved, intent) : resolved;
  const isAllowed = known !== undefined && ruling.decision === "allow";
  const kind = isAllowed ? "grant_renewed" : "renewal_denied";
  const event = callEvent({ kind, principal, call, resolved: known, ruling, mode: settings.mode, traceId });
  const approval = intent.approvalId === undefined ? {} : { approvalId: intent.approvalId };
  if (await ports.audit.appendRenewal({ ...event, ...approval })) {
    const { safetyLevel, trustTier } = event;
    const verdict = { ...ruling, safetyLevel, trustTier };
    return isAllowed ? { ...verdict, grant: signGrantFor(ports.signGrant, principal, call, known, asked.expectedSha256) } : verdict;
  }
  // Somebody else was first in the meantime, or it was renewed too often.
  const late = recordedDeny((await find())!);
  if (late !== undefined) return late;
  throw callAlreadyDecided(call.callId, "renewed_too_often");
}

/** The deny that stands on a call. @throws HlvmError `call_already_decided` where it was allowed and has its outcome */
export function recordedDeny({ intent, denial, hasOutcome }: RecordedCall): Verdict | undefined {
  const event = denial ?? intent;
  if (event.decision === "deny") {
    const { step = "definition", rule = "", reason = "", safetyLevel, trustTier } = event;
    return { decision: "deny", step, rule, reason, safetyLevel, trustTier };
  }
  if (hasOutcome) throw callAlreadyDecided(intent.callId ?? "", "has_outcome");
  return undefined;
}

/** What a person allowed is held to the level that they were shown. */
function asAnswered(resolved: ResolvedCall, { step, safetyLevel: level }: AuditEvent): ResolvedCall {
  if (step !== "approval" || level === undefined) return resolved;
  return { ...resolved, judgement: { ...resolved.judgement, level } };
}

async function ruleAnew(approvals: ApprovalStore, asked: AskedDecision, resolved: ResolvedCall, intent: AuditEvent): Promise<Ruling> {
  if (intent.step === "approval") {
    // The person's answer still counts: what would be asked has been. What is denied without asking is denied.
    // A plan that was accepted ended the mode in which plans are asked about.
    const mode = resolved.definition.asksPerson === "plan" ? "plan" : "default";
    const settings = { ...asked.settings, mode, canAsk: true } as const;
    const ruling = decide({ call: resolved, settings, allowances: [] });
    return ruling.decision === "deny"
      ? ruling
      : { decision: "allow", step: "approval", rule: intent.rule ?? "", reason: intent.reason ?? "" };
  }
  const ruling = await ruleOnCall(approvals, asked, resolved);
  if (ruling.decision !== "ask") return ruling;
  return { ...ruling, decision: "deny", reason: `${ruling.reason} The call was allowed before, so nobody is asked about it any more.` };
}
