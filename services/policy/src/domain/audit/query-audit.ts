import type { Principal } from "@hlvm/identity/principal";
import { demandAuthority } from "../authority/authority.ts";
import type { AuditEvent, RecordedEvent } from "./audit-event.ts";
import type { ApprovedCall, AuditFilter, AuditLog } from "./audit-log.ts";
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
  const events = await log.read({ ...filter, limit: filter.limit + 1 }, readingOf(principal, traceId, inWords(filter)));
  const page = events.slice(0, filter.limit);
  return { events: page, nextBeforeId: events.length > page.length ? page.at(-1)?.id : undefined };
}

export interface ApprovedPage {
  /** Newest first. */
  readonly calls: readonly ApprovedCall[];
  /** Undefined on the last page. */
  readonly nextBeforeId: bigint | undefined;
}

/**
 * Calls that were let through, and who or what did; recorded as a query is.
 * @throws HlvmError `role_missing`
 */
export async function whoApproved(
  log: AuditLog,
  principal: Principal,
  traceId: string,
  asked: Omit<AuditFilter, "kind" | "decision">,
): Promise<ApprovedPage> {
  demandAuthority(principal, "read_audit");
  const filter = { ...asked, kind: "intent", decision: "allow" } as const;
  const reading = readingOf(principal, traceId, `who_approved ${inWords(filter)}`);
  const calls = await log.readApproved({ ...filter, limit: filter.limit + 1 }, reading);
  const page = calls.slice(0, filter.limit);
  return { calls: page, nextBeforeId: calls.length > page.length ? page.at(-1)?.call.id : undefined };
}

/** That somebody reads the log, as it is recorded. */
export function readingOf({ organization, id }: Principal, traceId: string, query: string): AuditEvent {
  return { kind: "audit_read", at: new Date().toISOString(), organization, principal: id, query: redactText(query), traceId };
}

/** `kind=intent tool=shell_exec since=2026-01-01T00:00:00.000Z limit=100` */
export function inWords(filter: object): string {
  return (Object.entries(filter) as [string, unknown][])
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value instanceof Date ? value.toISOString() : JSON.stringify(value, bigintAsText)}`)
    .join(" ");
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
