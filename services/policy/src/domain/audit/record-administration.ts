import { canonicalJson, type JsonValue } from "@hlvm/canonical-json/canonical-json";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import type { AuditLog } from "./audit-log.ts";
import { redactText } from "./redact-text.ts";

export interface Administration {
  /** `hlvm.model.v1.PoolService/DrainInstance`. */
  readonly method: string;
  /** What is asked, as ProtoJSON. */
  readonly requestJson: string;
}

/**
 * Records that a person changes something that another service keeps, before they do: whether they may is that service's to say.
 * @throws HlvmError `request_not_json`
 */
export function recordAdministration(
  log: AuditLog,
  principal: Principal,
  traceId: string,
  { method, requestJson }: Administration,
): Promise<bigint> {
  return log.appendChange({
    kind: "administered",
    at: new Date().toISOString(),
    organization: principal.organization,
    principal: principal.id,
    arguments: redactText(canonicalJson({ method, request: parsed(requestJson) })),
    traceId,
  });
}

function parsed(json: string): JsonValue {
  try {
    return JSON.parse(json) as JsonValue;
  } catch (cause) {
    throw new HlvmError({ code: "invalid_argument", reason: "request_not_json", message: "The request is not JSON.", cause });
  }
}
