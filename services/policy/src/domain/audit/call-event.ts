import { canonicalJson } from "@hlvm/canonical-json/canonical-json";
import type { Principal } from "@hlvm/identity/principal";
import type { PermissionMode, Ruling } from "../decide/decision.ts";
import type { ResolvedCall } from "../decide/question.ts";
import type { AskedCall } from "../decide/resolve-call.ts";
import { callIdentity, readArguments } from "../call-identity.ts";
import { POLICY_VERSION } from "../policy-version.ts";
import type { AuditEvent } from "./audit-event.ts";
import { redactValue } from "./redact-value.ts";

const MAXIMUM_UNREADABLE = 2_000;

interface Described {
  readonly kind: "intent" | "approval_requested" | "grant_renewed" | "renewal_denied";
  readonly principal: Principal;
  readonly call: AskedCall;
  /** Absent where the first step denied. */
  readonly resolved: ResolvedCall | undefined;
  readonly ruling: Ruling;
  readonly mode: PermissionMode;
  readonly traceId: string;
}

/** What the audit log keeps of a decision on a call. */
export function callEvent({ kind, principal, call, resolved, ruling, mode, traceId }: Described): AuditEvent {
  const given = resolved?.arguments ?? readArguments(call.argumentsJson);
  return {
    kind,
    at: new Date().toISOString(),
    organization: principal.organization,
    sessionId: call.sessionId,
    callId: call.callId,
    ...callIdentity(principal, call, given),
    principal: principal.id,
    arguments: canonicalJson(redactValue(given?.value ?? unreadable(call.argumentsJson))),
    ...ruling,
    mode,
    ...(resolved === undefined ? {} : { safetyLevel: resolved.judgement.level, trustTier: resolved.definition.trustTier }),
    policyVersion: POLICY_VERSION,
    traceId,
  };
}

/** Arguments that have no canonical form are kept as the beginning of their text. */
function unreadable(argumentsJson: string): { unreadable: string } {
  return { unreadable: argumentsJson.slice(0, MAXIMUM_UNREADABLE).toWellFormed() };
}
