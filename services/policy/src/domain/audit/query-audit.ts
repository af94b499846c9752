import type { Principal } from "@hlvm/identity/principal";
import { demandAuthority } from "../authority.ts";
import type { RecordedEvent } from "./audit-event.ts";
import type { AuditFilter, AuditLog } from "./audit-log.ts";
import { redactText } from "./redact-text.ts";

export interface AuditPage {
  /** Newest first. */
  readonly events: readonly RecordedEvent[];
  /** Undefined on the last page. */
  readonly nextBeforeId: bigint | undefined;
}

/**
 * Reads the audit log of the caller's organization; that it was read is recorded first.
 * @throws HlvmError `role_missing`
 */
export async function queryAudit(log: AuditLog, principal: Principal, traceId: string, filter: AuditFilter): Promise<AuditPage> {
  demandAuthority(principal, "read_audit");
  const events = await log.read(
    { ...filter, limit: filter.limit + 1 },
    {
      kind: "audit_read",
      at: new Date().toISOString(),
      organization: principal.organization,
      principal: principal.id,
      query: redactText(inWords(filter)),
      traceId,
    },
  );
  const page = events.slice(0, filter.limit);
  return { events: page, nextBeforeId: events.length > page.length ? page.at(-1)?.id : undefined };
}

/** `kind=intent tool=shell_exec since=2026-01-01T00:00:00.000Z limit=100` */
function inWords(filter: AuditFilter): string {
  return Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value instanceof Date ? value.toISOString() : JSON.stringify(value, bigintAsText)}`)
    .join(" ");
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
