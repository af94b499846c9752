import { AuditEventSchema, type AuditEvent } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { csvLine } from "./csv-line.ts";
import { isPending } from "./is-pending.ts";
import { messageJson } from "./message-json.ts";
import { permissionModeWord } from "./permission-mode.ts";

const PENDING = "pending";
const COLUMNS = `id at kind principal session_id run_id call_id tool decision step rule reason mode safety_level trust_tier outcome
  outcome_summary duration_milliseconds approval_id trace_id arguments_hash arguments_json query`.split(/\s+/);

/** For programs: the contract's fields, and whether an allowed call still waits for its outcome. */
export function auditEventJson(event: AuditEvent): object {
  const json = { ...messageJson(AuditEventSchema, event), mode: permissionModeWord(event.mode) };
  return isPending(event) ? { ...json, outcome: PENDING } : json;
}

/** The names of the columns, as a record. */
export const AUDIT_CSV_HEAD = csvLine(COLUMNS);

/** One event as a record; what is not set is empty. */
export function auditCsvRecord(event: AuditEvent): string {
  const values = auditEventJson(event) as Readonly<Record<string, string | number>>;
  const at = event.at === undefined ? "" : timestampDate(event.at).toISOString();
  return csvLine(COLUMNS.map((column) => (column === "at" ? at : wordOf(values[column]))));
}

function wordOf(value: string | number | undefined): string {
  return value === undefined || value === "unspecified" ? "" : String(value);
}
