import type { Database } from "@hlvm/postgres/database";
import type { AuditEvent, RecordedEvent } from "../../domain/audit/audit-event.ts";
import type { AuditFilter } from "../../domain/audit/audit-log.ts";
import type { AskedCounts, AuditCounts, AuditField, AuditReports, FieldCounts, SpanCounts } from "../../domain/audit/audit-reports.ts";
import { auditConditions, JOIN_OUTCOME, looksAtOutcome } from "./audit-conditions.ts";
import { appendEvent, eventOf, recordOf, type EventRow } from "./event-record.ts";

const COLUMNS: Readonly<Record<Exclude<AuditField, "outcome">, string>> = {
  tool: "event.tool",
  principal: "event.principal",
  session: "event.session_id::text",
  decision: "event.decision",
  step: "event.step",
  rule: "event.rule",
  safety_level: "event.safety_level",
  mode: "event.mode",
};
const SPAN = "span";

const TIMELINE = `
  WITH reading AS (SELECT ${appendEvent(1)})
  SELECT found.* FROM reading LEFT JOIN (
    SELECT event.id, event.tool, event.payload, NULL AS outcome FROM audit_event event
    WHERE event.organization = $2 AND event.session_id = $3 AND event.id > $4
    ORDER BY event.id LIMIT $5
  ) found ON true ORDER BY found.id`;

/** Its own reading is the newest. */
const BEGIN_TAIL = `SELECT ${appendEvent(1)}`;

type NothingFound = { readonly id: null };
type CountRow = {
  readonly field: string;
  readonly value: string | null;
  readonly events: string;
  readonly allowed: string;
  readonly asked: string;
  readonly denied: string;
  readonly all_events: string;
};

/** Counts and timelines of the audit log's table. The reading is appended by the statement that reads, as in a query. */
export class PostgresAuditReports implements AuditReports {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async count(filter: AuditFilter, asked: AskedCounts, reading: AuditEvent): Promise<AuditCounts> {
    const { sql, values } = countStatement(filter, asked, reading);
    const rows = await this.#database.query<CountRow>(sql, values);
    const spans = rows.filter(({ field }) => field === SPAN).map((row) => [Number(row.value), spanOf(row)] as const);
    return {
      events: Number(rows.find(({ field }) => field === "")?.events ?? 0),
      fields: asked.by.map((field) => fieldOf(field, rows)),
      spans: new Map(spans),
    };
  }

  async timeline(sessionId: string, afterId: bigint, limit: number, reading: AuditEvent): Promise<RecordedEvent[]> {
    const values = [recordOf(reading), reading.organization, sessionId, afterId.toString(), limit];
    const rows = await this.#database.query<EventRow | NothingFound>(TIMELINE, values, "audit_timeline");
    return rows.filter((row) => row.id !== null).map(eventOf);
  }

  async firstAt(organization: string, kind: AuditFilter["kind"]): Promise<Date | undefined> {
    const sql = "SELECT at FROM audit_event WHERE organization = $1 AND kind = $2 ORDER BY at LIMIT 1";
    const [row] = await this.#database.query<{ at: Date }>(sql, [organization, kind], "audit_first");
    return row?.at;
  }

  async beginTail(reading: AuditEvent): Promise<bigint> {
    const [row] = await this.#database.query<{ id: string | null }>(BEGIN_TAIL, [recordOf(reading)], "audit_begin_tail");
    return BigInt(row?.id ?? 0);
  }

  async after(organization: string, filter: AuditFilter, afterId: bigint, limit: number): Promise<RecordedEvent[]> {
    const values: unknown[] = [afterId.toString(), organization, limit];
    const conditions = auditConditions(filter, (value) => `$${values.push(value)}`);
    const rows = await this.#database.query<EventRow>(
      `SELECT event.id, event.tool, event.payload, outcome.payload AS outcome FROM audit_event event${JOIN_OUTCOME}
      WHERE event.organization = $2 AND event.id > $1 AND ${conditions.join(" AND ")} ORDER BY event.id LIMIT $3`,
      values,
    );
    return rows.map(eventOf);
  }
}

/**
 * One pass over the events that fit: each set groups them by one field, and the empty one counts them all. So a field's value is
 * the only one of a row that is not left out, and the place of its set says which field it is.
 */
function countStatement(filter: AuditFilter, { by, top, spans }: AskedCounts, reading: AuditEvent): { sql: string; values: unknown[] } {
  const values: unknown[] = [recordOf(reading), reading.organization];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const ofIntent = filter.kind === "intent" ? "outcome.outcome" : "event.outcome";
  const columns = by.map((field) => [field, `coalesce(${field === "outcome" ? ofIntent : COLUMNS[field]}, '')`] as const);
  const spanColumn =
    spans === undefined
      ? []
      : [
          [
            SPAN,
            `floor(extract(epoch FROM event.at - ${parameter(spans.start)}::timestamptz) / ${parameter(spans.seconds)})::text`,
          ] as const,
        ];
  const sets = [...columns, ...spanColumn];
  const join = by.includes("outcome") || looksAtOutcome(filter) ? JOIN_OUTCOME : "";
  const conditions = auditConditions(filter, parameter);
  const fieldOfSet = sets.map(([field]) => `WHEN grouping("${field}") = 0 THEN '${field}'`).join(" ");
  const sql = `
    WITH reading AS (SELECT ${appendEvent(1)})
    SELECT counted.* FROM reading LEFT JOIN (
      SELECT *, sum(events) OVER (PARTITION BY field) AS all_events, row_number() OVER (PARTITION BY field ORDER BY events DESC, value) AS place
      FROM (
        SELECT ${sets.length === 0 ? "''" : `CASE ${fieldOfSet} ELSE '' END`} AS field,
          ${sets.length === 0 ? "NULL" : `coalesce(${sets.map(([field]) => `"${field}"`).join(", ")})`} AS value,
          count(*) AS events, count(*) FILTER (WHERE decided = 'allow') AS allowed,
          count(*) FILTER (WHERE decided = 'ask') AS asked, count(*) FILTER (WHERE decided = 'deny') AS denied
        FROM (
          SELECT event.decision AS decided${sets.map(([field, column]) => `, ${column} AS "${field}"`).join("")}
          FROM audit_event event${join} WHERE event.organization = $2 AND ${conditions.join(" AND ")}
        ) AS event GROUP BY GROUPING SETS ((), ${sets.map(([field]) => `("${field}")`).join(", ")})
      ) AS grouped
    ) counted ON true
    WHERE counted.field IN ('', '${SPAN}') OR counted.place <= ${parameter(top)} ORDER BY counted.field, counted.place`;
  return { sql: sql.replace("((), )", "(())"), values };
}

function fieldOf(field: AuditField, rows: readonly CountRow[]): FieldCounts {
  const own = rows.filter((row) => row.field === field);
  const counts = own.map(({ value, events }) => ({ value: value ?? "", events: Number(events) }));
  const counted = counts.reduce((sum, { events }) => sum + events, 0);
  return { field, counts, otherEvents: Number(own[0]?.all_events ?? 0) - counted };
}

function spanOf({ events, allowed, asked, denied }: CountRow): SpanCounts {
  return { events: Number(events), allowed: Number(allowed), asked: Number(asked), denied: Number(denied) };
}
