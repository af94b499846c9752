import { canonicalJson, type JsonValue } from "@hlvm/canonical-json/canonical-json";
import type { AuditEvent, RecordedEvent } from "../../domain/audit/audit-event.ts";

/** Appends the event whose record this parameter is; `id` is null where the log refuses it. */
export const appendEvent = (parameter: number): string => `append_audit_event($${parameter}) AS id`;

/** An event as it is recorded, in canonical JSON. */
export function recordOf(event: AuditEvent): string {
  const kept: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(event) as [string, JsonValue | undefined][])
    if (value !== undefined) kept[name] = typeof value === "string" ? storable(value) : value;
  return canonicalJson(kept);
}

/** PostgreSQL holds no NUL and no half of a surrogate pair: in the record they become U+FFFD. */
function storable(text: string): string {
  return text.isWellFormed() && !text.includes("\u0000") ? text : text.toWellFormed().replaceAll("\u0000", "\uFFFD");
}

/** `outcome` is the record of the outcome that belongs to it. */
export type EventRow = { readonly id: string; readonly tool: string | null; readonly payload: string; readonly outcome: string | null };

/** An outcome's own record names no tool: its column does. */
export function eventOf({ id, tool, payload, outcome }: EventRow): RecordedEvent {
  const joined = outcome === null ? {} : outcomeOf(JSON.parse(outcome) as AuditEvent);
  return { ...(tool === null ? {} : { tool }), ...(JSON.parse(payload) as AuditEvent), ...joined, id: BigInt(id) };
}

function outcomeOf({ outcome, summary, durationMilliseconds }: AuditEvent): Partial<AuditEvent> {
  return { outcome, summary, durationMilliseconds };
}
