import { canonicalJson } from "@hlvm/canonical-json/canonical-json";
import { sha256Hex } from "@hlvm/canonical-json/sha256-hex";
import type { Principal } from "@hlvm/identity/principal";
import type { PermissionMode, Ruling } from "../decide/decision.ts";
import type { ResolvedCall } from "../decide/question.ts";
import type { AskedCall } from "../decide/resolve-call.ts";
import { POLICY_VERSION } from "../policy-version.ts";
import type { AuditEvent } from "./audit-event.ts";
import { redactValue } from "./redact-value.ts";

const MAXIMUM_UNREADABLE = 2_000;

interface Described {
  readonly kind: "intent" | "approval_requested";
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
  return {
    kind,
    at: new Date().toISOString(),
    organization: principal.organization,
    principal: principal.id,
    sessionId: call.sessionId,
    runId: call.runId,
    callId: call.callId,
    tool: call.tool,
    ...argumentsOf(call, resolved),
    ...ruling,
    mode,
    ...(resolved === undefined ? {} : { safetyLevel: resolved.judgement.level, trustTier: resolved.definition.trustTier }),
    policyVersion: POLICY_VERSION,
    traceId,
  };
}

/** Arguments that have no canonical form are kept as the beginning of their text. */
function argumentsOf(call: AskedCall, resolved: ResolvedCall | undefined): Pick<AuditEvent, "arguments" | "argumentsHash"> {
  if (resolved !== undefined)
    return { arguments: canonicalJson(redactValue(resolved.arguments.value)), argumentsHash: resolved.arguments.hash };
  const unreadable = redactValue({ unreadable: call.argumentsJson.slice(0, MAXIMUM_UNREADABLE).toWellFormed() });
  return { arguments: canonicalJson(unreadable), argumentsHash: sha256Hex(call.argumentsJson) };
}
