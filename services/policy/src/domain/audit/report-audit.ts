import type { Principal } from "@hlvm/identity/principal";
import { demandAuthority } from "../authority/authority.ts";
import type { RecordedEvent } from "./audit-event.ts";
import type { AuditFilter } from "./audit-log.ts";
import type { AuditCounts, AuditField, AuditReports, SpanCounts } from "./audit-reports.ts";
import { inWords, readingOf } from "./query-audit.ts";

const DAY_SECONDS = 86_400;
/** What people count in. */
const SPAN_SECONDS = [1, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 10_800, 21_600, 43_200, DAY_SECONDS, 7 * DAY_SECONDS, 30 * DAY_SECONDS];
const NOTHING: SpanCounts = { events: 0, allowed: 0, asked: 0, denied: 0 };

export interface AskedReport {
  readonly by: readonly AuditField[];
  readonly top: number;
  /** At most so many spans of time. */
  readonly buckets: number;
}

export interface AuditReport {
  readonly counts: AuditCounts;
  /** One after the other. */
  readonly buckets: readonly (SpanCounts & { readonly start: Date })[];
  readonly bucketSeconds: number;
}

/**
 * Counts events of the caller's organization by fields and over time; recorded as a query is.
 * @throws HlvmError `role_missing`
 */
export async function countAudit(
  reports: AuditReports,
  principal: Principal,
  traceId: string,
  filter: AuditFilter,
  asked: AskedReport,
): Promise<AuditReport> {
  demandAuthority(principal, "read_audit");
  const { by, top } = asked;
  const { limit: _limit, ...which } = filter;
  const reading = readingOf(principal, traceId, `aggregate ${inWords({ ...which, by: by.join(",") })}`);
  if (asked.buckets === 0) return { counts: await reports.count(filter, { by, top }, reading), buckets: [], bucketSeconds: 0 };
  const end = filter.until ?? new Date();
  const start = filter.since ?? (await reports.firstAt(principal.organization, filter.kind)) ?? end;
  const spans = spansOf(start, end, asked.buckets);
  const counts = await reports.count(filter, { by, top, spans }, reading);
  const buckets = Array.from({ length: spans.count }, (_, index) => ({
    start: new Date(spans.start.getTime() + index * spans.seconds * 1_000),
    ...(counts.spans.get(index) ?? NOTHING),
  }));
  return { counts, buckets, bucketSeconds: spans.seconds };
}

/** Spans that begin where a clock would, in UTC: on the hour, at midnight. */
function spansOf(start: Date, end: Date, most: number): { start: Date; seconds: number; count: number } {
  const [first, last] = [Math.floor(start.getTime() / 1_000), Math.ceil(Math.max(end.getTime(), start.getTime() + 1) / 1_000)];
  const countOf = (seconds: number): number => Math.ceil(last / seconds) - Math.floor(first / seconds);
  let seconds = SPAN_SECONDS.find((width) => countOf(width) <= most) ?? SPAN_SECONDS.at(-1)!;
  while (countOf(seconds) > most) seconds *= 2;
  return { start: new Date(Math.floor(first / seconds) * seconds * 1_000), seconds, count: countOf(seconds) };
}

export interface TimelinePage {
  /** Oldest first. */
  readonly events: readonly RecordedEvent[];
  /** Undefined on the last page. */
  readonly nextAfterId: bigint | undefined;
}

/**
 * All that is on record about one session; recorded as a query is.
 * @throws HlvmError `role_missing`
 */
export async function sessionTimeline(
  reports: AuditReports,
  principal: Principal,
  traceId: string,
  { sessionId, afterId, limit }: { readonly sessionId: string; readonly afterId: bigint; readonly limit: number },
): Promise<TimelinePage> {
  demandAuthority(principal, "read_audit");
  const reading = readingOf(principal, traceId, `session_timeline ${inWords({ sessionId, afterId, limit })}`);
  const events = await reports.timeline(sessionId, afterId, limit + 1, reading);
  const page = events.slice(0, limit);
  return { events: page, nextAfterId: events.length > page.length ? page.at(-1)?.id : undefined };
}
