import type { Client } from "@connectrpc/connect";
import { AUDIT_CSV_HEAD, auditCsvRecord, auditEventJson } from "@hlvm/ndjson/audit-event-json";
import type { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { saveAs } from "../../parts/save-as.ts";
import type { AuditQuestion } from "./audit-question.ts";
import { requestOf } from "./audit-request.ts";

export type AuditFormat = "csv" | "ndjson";

const PAGE = 1_000;
/** A browser holds a file in memory until it is saved. */
const MOST = 100_000;
const TYPES: Readonly<Record<AuditFormat, string>> = { csv: "text/csv", ndjson: "application/x-ndjson" };

/**
 * Saves all that fits a question as a file, newest first.
 * @param onRead called with how many have been read so far
 * @returns how many are in the file, and whether there would have been more
 */
export async function saveEvents(
  audit: Client<typeof AuditService>,
  question: AuditQuestion,
  format: AuditFormat,
  onRead: (count: number) => void,
): Promise<{ readonly written: number; readonly hasMore: boolean }> {
  const pieces: string[] = format === "csv" ? [AUDIT_CSV_HEAD] : [];
  const query = requestOf(question);
  let written = 0;
  let beforeId = 0n;
  do {
    onRead(written);
    const { events, nextBeforeId } = await audit.query({ ...query, limit: PAGE, beforeId });
    for (const event of events) pieces.push(format === "csv" ? auditCsvRecord(event) : `${JSON.stringify(auditEventJson(event))}\n`);
    written += events.length;
    beforeId = nextBeforeId;
  } while (beforeId !== 0n && written < MOST);
  saveAs(`audit-${new Date().toISOString().slice(0, 10)}.${format}`, new Blob(pieces, { type: TYPES[format] }));
  return { written, hasMore: beforeId !== 0n };
}
