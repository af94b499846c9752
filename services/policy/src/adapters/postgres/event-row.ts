import { canonicalJson, type JsonValue } from "@hlvm/canonical-json/canonical-json";
import type { AuditEvent } from "../../domain/audit/audit-event.ts";

/** The columns that every kind of event fills, in the order of `eventValues`. */
export const EVENT_COLUMNS = "organization, at, kind, principal, session_id, run_id, call_id, tool, decision, step, payload";

const TYPES = ["text", "timestamptz", "text", "text", "uuid", "uuid", "text", "text", "text", "text", "text"];

/** Parameters for all columns of an event, the first of them with this number. */
export function eventParameters(first: number): string {
  return TYPES.map((type, index) => `$${first + index}::${type}`).join(", ");
}

export function eventValues(event: AuditEvent): unknown[] {
  const { organization, at, kind, principal, sessionId, runId, callId, tool, decision, step } = event;
  return [organization, at, kind, principal, sessionId, runId, callId, tool, decision, step, payloadOf(event)];
}

function payloadOf(event: AuditEvent): string {
  const kept: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(event) as [string, JsonValue | undefined][])
    if (value !== undefined) kept[name] = typeof value === "string" ? storable(value) : value;
  return canonicalJson(kept);
}

/** PostgreSQL holds no NUL and no half of a surrogate pair: in the record they become U+FFFD. */
function storable(text: string): string {
  return text.isWellFormed() && !text.includes("\u0000") ? text : text.toWellFormed().replaceAll("\u0000", "\uFFFD");
}
