import type { Database } from "@hlvm/postgres/database";
import type { AuditEvent, OutcomeEvent, RecordedEvent } from "../../domain/audit/audit-event.ts";
import type { AuditFilter, AuditLog, RecordedIntent } from "../../domain/audit/audit-log.ts";
import { EVENT_COLUMNS, eventParameters, eventValues } from "./event-row.ts";

const APPEND = `INSERT INTO audit_event (${EVENT_COLUMNS}) VALUES (${eventParameters(1)})`;

const APPEND_INTENT = `
  INSERT INTO audit_event (${EVENT_COLUMNS})
  SELECT ${eventParameters(1)}
  WHERE NOT EXISTS (SELECT FROM approval WHERE organization = $1 AND session_id = $5 AND call_id = $7)
  ON CONFLICT DO NOTHING RETURNING id`;

const APPEND_OUTCOME = `
  INSERT INTO audit_event (${EVENT_COLUMNS})
  SELECT $1::text, $2::timestamptz, $3::text, $4::text, $5::uuid, $6::uuid, $7::text, intent.tool, intent.decision, intent.step, $8
  FROM audit_event intent
  WHERE intent.kind = 'intent' AND intent.organization = $1 AND intent.session_id = $5 AND intent.call_id = $7
    AND intent.run_id = $6 AND intent.principal = $4 AND intent.decision = 'allow'
  ON CONFLICT DO NOTHING RETURNING id`;

const FIND_INTENT = `
  SELECT principal, run_id, tool, decision, payload FROM audit_event
  WHERE kind = 'intent' AND organization = $1 AND session_id = $2 AND call_id = $3`;

/** The reading is inserted by the statement that reads: one is not to be had without the other. */
const readStatement = (conditions: string, limit: string): string => `
  WITH reading AS (${APPEND} RETURNING id)
  SELECT event.id, event.tool, event.payload, outcome.payload AS outcome
  FROM audit_event event
  CROSS JOIN reading
  LEFT JOIN audit_event outcome ON event.kind = 'intent' AND outcome.kind = 'outcome' AND outcome.organization = event.organization
    AND outcome.session_id = event.session_id AND outcome.call_id = event.call_id
  WHERE event.organization = $1 AND ${conditions}
  ORDER BY event.id DESC LIMIT ${limit}`;

const TEXT_FIELDS = ["event.payload::jsonb->>'arguments'", "event.payload::jsonb->>'rule'", "event.payload::jsonb->>'reason'"].concat([
  "event.payload::jsonb->>'summary'",
  "outcome.payload::jsonb->>'summary'",
]);

type EventRow = { readonly id: string; readonly tool: string | null; readonly payload: string; readonly outcome: string | null };
type IntentRow = {
  readonly principal: string;
  readonly run_id: string;
  readonly tool: string;
  readonly decision: RecordedIntent["decision"];
  readonly payload: string;
};

/** The audit log in one append-only table. */
export class PostgresAuditLog implements AuditLog {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async appendIntent(event: AuditEvent): Promise<boolean> {
    return (await this.#database.query(APPEND_INTENT, eventValues(event), "append_intent")).length > 0;
  }

  async findIntent(organization: string, sessionId: string, callId: string): Promise<RecordedIntent | undefined> {
    const [row] = await this.#database.query<IntentRow>(FIND_INTENT, [organization, sessionId, callId], "find_intent");
    if (row === undefined) return undefined;
    const { principal, run_id: runId, tool, decision, payload } = row;
    return { principal, runId, tool, decision, event: JSON.parse(payload) as AuditEvent };
  }

  async appendOutcome(event: OutcomeEvent): Promise<bigint | undefined> {
    const values = eventValues(event);
    const [row] = await this.#database.query<{ id: string }>(APPEND_OUTCOME, [...values.slice(0, 7), values.at(-1)], "append_outcome");
    return row === undefined ? undefined : BigInt(row.id);
  }

  async read(filter: AuditFilter, reading: AuditEvent): Promise<RecordedEvent[]> {
    const values = eventValues(reading);
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
    return (await this.#database.query<EventRow>(sql, values)).map(eventOf);
  }
}

function eventOf({ id, tool, payload, outcome }: EventRow): RecordedEvent {
  const joined = outcome === null ? {} : outcomeOf(JSON.parse(outcome) as AuditEvent);
  return { ...(tool === null ? {} : { tool }), ...(JSON.parse(payload) as AuditEvent), ...joined, id: BigInt(id) };
}

function outcomeOf({ outcome, summary, durationMilliseconds }: AuditEvent): Partial<AuditEvent> {
  return { outcome, summary, durationMilliseconds };
}
