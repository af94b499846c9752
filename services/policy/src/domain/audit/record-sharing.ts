import type { Principal } from "@hlvm/identity/principal";
import type { AuditLog } from "./audit-log.ts";
import { redactText } from "./redact-text.ts";

export interface Sharing {
  readonly sessionId: string;
  /** With whom and how, in canonical JSON. */
  readonly json: string;
  readonly removed: boolean;
}

/** Records that a session is shared, or is not any more, before that counts. That it is theirs to share, the orchestrator has found. */
export function recordSharing(
  log: AuditLog,
  principal: Principal,
  traceId: string,
  { sessionId, json, removed }: Sharing,
): Promise<bigint> {
  return log.appendChange({
    kind: removed ? "session_unshared" : "session_shared",
    at: new Date().toISOString(),
    organization: principal.organization,
    principal: principal.id,
    sessionId,
    arguments: redactText(json),
    traceId,
  });
}
