import type { Database } from "@hlvm/postgres/database";
import type { AuditEvent, OutcomeEvent, RecordedEvent } from "../../domain/audit/audit-event.ts";
import type { AuditFilter, AuditLog, RecordedCall } from "../../domain/audit/audit-log.ts";
import { appendEvent, recordOf } from "./event-record.ts";

const APPEND_INTENT = `
  SELECT ${appendEvent(1)}
  WHERE NOT EXISTS (SELECT FROM approval WHERE organization = $2 AND session_id = $3::uuid AND call_id = $4)`;

const APPEND_RENEWAL = `SELECT ${appendEvent(1)}`;

const APPEND_OUTCOME = `
  WITH event AS (SELECT ${appendEvent(1)}), forgotten AS (
    UPDATE approval SET arguments_json = '' FROM event
    WHERE event.id IS NOT NULL AND organization = $2 AND session_id = $3::uuid AND call_id = $4 AND arguments_json <> ''
  )
  SELECT id FROM event`;

const FIND_CALL = `
  SELECT intent.payload AS intent, denial.payload AS denial, outcome.id IS NOT NULL AS has_outcome
  FROM audit_event intent
  LEFT JOIN audit_event denial ON denial.kind = 'renewal_denied' AND denial.organization = $1 AND denial.session_id = $2
    AND denial.call_id = $3 AND denial.id > intent.id
  LEFT JOIN audit_event outcome ON outcome.kind = 'outcome' AND outcome.organization = $1 AND outcome.session_id = $2
    AND outcome.call_id = $3
  WHERE intent.kind = 'intent' AND intent.organization = $1 AND intent.session_id = $2 AND intent.call_id = $3`;

/**
 * The reading is recorded by the statement that reads, which gives its row however little was found: one is not to be had
 * without the other. What is found is sorted and limited by itself, so that an index gives its order.
 */
const readStatement = (conditions: string, limit: string): string => `
  WITH reading AS (SELECT ${appendEvent(1)})
  SELECT found.* FROM reading LEFT JOIN (
    SELECT event.id, event.tool, event.payload, outcome.payload AS outcome
    FROM audit_event event
    LEFT JOIN audit_event outcome ON event.kind = 'intent' AND outcome.kind = 'outcome' AND outcome.organization = event.organization
      AND outcome.session_id = event.session_id AND outcome.call_id = event.call_id
    WHERE event.organization = $2 AND ${conditions}
    ORDER BY event.id DESC LIMIT ${limit}
  ) found ON true
  ORDER BY found.id DESC`;

const TEXT_FIELDS = ["event.payload::jsonb->>'arguments'", "event.payload::jsonb->>'rule'", "event.payload::jsonb->>'reason'"].concat([
  "event.payload::jsonb->>'summary'",
  "outcome.payload::jsonb->>'summary'",
]);

type Appended = { readonly id: string | null };
type NothingFound = { readonly id: null };
type EventRow = { readonly id: string; readonly tool: string | null; readonly payload: string; readonly outcome: string | null };
type CallRow = { readonly intent: string; readonly denial: string | null; readonly has_outcome: boolean };

/** The audit log in one append-only table. */
export class PostgresAuditLog implements AuditLog {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async appendIntent(event: AuditEvent): Promise<boolean> {
    const values = [recordOf(event), event.organization, event.sessionId, event.callId];
    const [row] = await this.#database.query<Appended>(APPEND_INTENT, values, "append_intent");
    return row !== undefined && row.id !== null;
  }

  async findCall(organization: string, sessionId: string, callId: string): Promise<RecordedCall | undefined> {
    const [row] = await this.#database.query<CallRow>(FIND_CALL, [organization, sessionId, callId], "find_call");
    if (row === undefined) return undefined;
    const denial = row.denial === null ? {} : { denial: JSON.parse(row.denial) as AuditEvent };
    return { intent: JSON.parse(row.intent) as AuditEvent, ...denial, hasOutcome: row.has_outcome };
  }

  async appendRenewal(event: AuditEvent): Promise<boolean> {
    const [row] = await this.#database.query<Appended>(APPEND_RENEWAL, [recordOf(event)], "append_renewal");
    return row !== undefined && row.id !== null;
  }

  async appendOutcome(event: OutcomeEvent): Promise<bigint | undefined> {
    const values = [recordOf(event), event.organization, event.sessionId, event.callId];
    const [row] = await this.#database.query<Appended>(APPEND_OUTCOME, values, "append_outcome");
    return row === undefined || row.id === null ? undefined : BigInt(row.id);
  }

  async appendBudgetChange(event: AuditEvent): Promise<bigint> {
    const [row] = await this.#database.query<Appended>(`SELECT ${appendEvent(1)}`, [recordOf(event)], "append_budget_change");
    return BigInt(row?.id ?? 0);
  }

  async read(filter: AuditFilter, reading: AuditEvent): Promise<RecordedEvent[]> {
    const values: unknown[] = [recordOf(reading), reading.organization];
    const parameter = (value: unknown): string => `$${values.push(value)}`;
    const conditions = [`event.kind = ${parameter(filter.kind)}`];
    if (filter.tool !== undefined) conditions.push(`event.tool = ${parameter(filter.tool)}`);
    if (filter.principal !== undefined) conditions.push(`event.principal = ${parameter(filter.principal)}`);
    if (filter.sessionId !== undefined) conditions.push(`event.session_id = ${parameter(filter.sessionId)}`);
    if (filter.decision !== undefined) conditions.push(`event.decision = ${parameter(filter.decision)}`);
    if (filter.step !== undefined) conditions.push(`event.step = ${parameter(filter.step)}`);
    if (filter.since !== undefined) conditions.push(`event.at >= ${parameter(filter.since)}`);
    if (filter.until !== undefined) conditions.push(`event.at < ${parameter(filter.until)}`);
    if (filter.beforeId !== undefined) conditions.push(`event.id < ${parameter(filter.beforeId.toString())}`);
    if (filter.text !== undefined)
      conditions.push(`strpos(lower(concat_ws(E'\\n', ${TEXT_FIELDS.join(", ")})), lower(${parameter(filter.text)})) > 0`);
    const sql = readStatement(conditions.join(" AND "), parameter(filter.limit));
    const rows = await this.#database.query<EventRow | NothingFound>(sql, values);
    return rows.filter((row) => row.id !== null).map(eventOf);
  }
}

function eventOf({ id, tool, payload, outcome }: EventRow): RecordedEvent {
  const joined = outcome === null ? {} : outcomeOf(JSON.parse(outcome) as AuditEvent);
  return { ...(tool === null ? {} : { tool }), ...(JSON.parse(payload) as AuditEvent), ...joined, id: BigInt(id) };
}

function outcomeOf({ outcome, summary, durationMilliseconds }: AuditEvent): Partial<AuditEvent> {
  return { outcome, summary, durationMilliseconds };
}
