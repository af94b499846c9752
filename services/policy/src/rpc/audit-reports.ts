import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { AuditFieldSchema, type AuditField, type AuditService, type QueryRequest } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { AuditFilter } from "../domain/audit/audit-log.ts";
import type { AuditField as FieldWord, AuditReports } from "../domain/audit/audit-reports.ts";
import { countAudit, sessionTimeline } from "../domain/audit/report-audit.ts";
import { tailAudit } from "../domain/audit/tail-audit.ts";
import { demandPerson } from "../domain/demand-person.ts";
import { decodeAuditFilter, DEFAULT_AUDIT_LIMIT } from "./decode-audit-filter.ts";
import { requestIncomplete } from "./decode-settings.ts";
import { encodeEvent } from "./encode-event.ts";
import { numbersOf, wordOf } from "./words.ts";

const fields = numbersOf<FieldWord, AuditField>(AuditFieldSchema);
const DEFAULT_TOP = 10;

/** What is asked of the audit log besides its pages. */
export function auditReportMethods(
  reports: AuditReports,
): Pick<ServiceImpl<typeof AuditService>, "aggregate" | "sessionTimeline" | "tail"> {
  return {
    aggregate: async ({ query, by, top, buckets }, context) => {
      const { principal, delegation, traceId } = callContext(context);
      demandPerson(delegation);
      const asked = { by: by.map((field) => wordOf(fields, field)!), top: top || DEFAULT_TOP, buckets };
      const report = await countAudit(reports, principal, traceId, filterOf(query), asked);
      return {
        events: BigInt(report.counts.events),
        facets: report.counts.fields.map(({ field, counts, otherEvents }) => ({
          field: fields[field],
          counts: counts.map(({ value, events }) => ({ value, events: BigInt(events) })),
          otherEvents: BigInt(otherEvents),
        })),
        buckets: report.buckets.map(({ start, events, allowed, asked: waited, denied }) => ({
          start: timestampFromDate(start),
          events: BigInt(events),
          allowed: BigInt(allowed),
          asked: BigInt(waited),
          denied: BigInt(denied),
        })),
        bucketSeconds: report.bucketSeconds,
      };
    },
    sessionTimeline: async ({ sessionId, limit, afterId }, context) => {
      const { principal, delegation, traceId } = callContext(context);
      demandPerson(delegation);
      const asked = { sessionId, afterId, limit: limit || DEFAULT_AUDIT_LIMIT };
      const { events, nextAfterId } = await sessionTimeline(reports, principal, traceId, asked);
      return { events: events.map(encodeEvent), nextAfterId: nextAfterId ?? 0n };
    },
    async *tail({ query, afterId }, context) {
      const { principal, delegation, traceId, signal } = callContext(context);
      demandPerson(delegation);
      for await (const events of tailAudit(reports, principal, traceId, { filter: filterOf(query), afterId, signal }))
        yield { events: events.map(encodeEvent) };
    },
  };
}

function filterOf(query: QueryRequest | undefined): AuditFilter {
  if (query === undefined) throw requestIncomplete("query", "request");
  const { beforeId: _beforeId, ...filter } = decodeAuditFilter(query);
  return filter;
}
