import type { Database } from "@hlvm/postgres/database";
import type { AuditEvent, OutcomeEvent, RecordedEvent } from "../../domain/audit/audit-event.ts";
import type { AppendedIntent, ApprovedCall, AuditFilter, AuditLog, RecordedCall } from "../../domain/audit/audit-log.ts";
import { auditConditions, JOIN_OUTCOME } from "./audit-conditions.ts";
import { appendEvent, eventOf, recordOf, type EventRow } from "./event-record.ts";

/** The outcomes of the earlier calls come first in the log. */
const APPEND_INTENT = `
  WITH ended AS (
    SELECT one.call_id, append_audit_event(one.record) AS id FROM unnest($5::text[], $6::text[]) AS one(call_id, record)
  ), forgotten AS (
    UPDATE approval SET arguments_json = '', preview = NULL FROM ended
    WHERE ended.id IS NOT NULL AND organization = $2 AND session_id = $3::uuid AND approval.call_id = ended.call_id
      AND arguments_json <> ''
  )
  SELECT ${appendEvent(1)}, recorded.call_ids
  FROM (SELECT coalesce(array_agg(call_id) FILTER (WHERE ended.id IS NOT NULL), '{}') AS call_ids FROM ended) recorded
  WHERE NOT EXISTS (SELECT FROM approval WHERE organization = $2 AND session_id = $3::uuid AND call_id = $4)`;

const APPEND_RENEWAL = `SELECT ${appendEvent(1)}`;

const APPEND_OUTCOME = `
  WITH event AS (SELECT ${appendEvent(1)}), forgotten AS (
    UPDATE approval SET arguments_json = '', preview = NULL FROM event
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
const readStatement = ({ conditions, limit }: Reading, answer = NO_ANSWER): string => `
  WITH reading AS (SELECT ${appendEvent(1)})
  SELECT found.* FROM reading LEFT JOIN (
    SELECT event.id, event.tool, event.payload, outcome.payload AS outcome${answer.columns}
    FROM audit_event event${JOIN_OUTCOME}${answer.join}
    WHERE event.organization = $2 AND ${conditions}
    ORDER BY event.id DESC LIMIT ${limit}
  ) found ON true
  ORDER BY found.id DESC`;

const NO_ANSWER = { columns: "", join: "" };
const ANSWER = {
  columns: ", answer.id AS answer_id, answer.payload AS answer",
  join: `
    LEFT JOIN LATERAL (
      SELECT id, payload, principal FROM audit_event one
      WHERE one.kind = 'approval_answered' AND one.organization = event.organization AND one.session_id = event.session_id
        AND one.call_id = event.call_id ORDER BY one.id DESC LIMIT 1
    ) answer ON true`,
};

/** Conditions of a read and their values, of which the first two are the event of the reading and the organization. */
interface Reading {
  readonly conditions: string;
  readonly limit: string;
  readonly values: readonly unknown[];
}

type IntentRow = { readonly id: string | null; readonly call_ids: readonly string[] };
type Appended = { readonly id: string | null };
type NothingFound = { readonly id: null };
type ApprovedRow = EventRow & { readonly answer_id: string | null; readonly answer: string | null };
type CallRow = { readonly intent: string; readonly denial: string | null; readonly has_outcome: boolean };

/** The audit log in one append-only table. */
export class PostgresAuditLog implements AuditLog {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async appendIntent(event: AuditEvent, ended: readonly OutcomeEvent[]): Promise<AppendedIntent> {
    const endedIds = ended.map(({ callId }) => callId);
    const values = [recordOf(event), event.organization, event.sessionId, event.callId, endedIds, ended.map(recordOf)];
    const [row] = await this.#database.query<IntentRow>(APPEND_INTENT, values, "append_intent");
    return { isAppended: row !== undefined && row.id !== null, recordedCallIds: row?.call_ids ?? [] };
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

  async appendChange(event: AuditEvent): Promise<bigint> {
    const [row] = await this.#database.query<Appended>(`SELECT ${appendEvent(1)}`, [recordOf(event)], "append_change");
    return BigInt(row?.id ?? 0);
  }

  async read(filter: AuditFilter, reading: AuditEvent): Promise<RecordedEvent[]> {
    const read = readingOf(filter, reading);
    const rows = await this.#database.query<EventRow | NothingFound>(readStatement(read), read.values);
    return rows.filter((row) => row.id !== null).map(eventOf);
  }

  async readApproved(filter: AuditFilter, reading: AuditEvent): Promise<ApprovedCall[]> {
    const read = readingOf(filter, reading);
    const rows = await this.#database.query<ApprovedRow | NothingFound>(readStatement(read, ANSWER), read.values);
    return rows.filter((row) => row.id !== null).map((row) => ({ call: eventOf(row), ...answerOf(row) }));
  }
}

function readingOf(filter: AuditFilter, reading: AuditEvent): Reading {
  const values: unknown[] = [recordOf(reading), reading.organization];
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const conditions = auditConditions(filter, parameter);
  if (filter.approver !== undefined) {
    const approver = parameter(filter.approver);
    // The first one is the one that an index finds; the second says that it is the last answer.
    conditions.push(`(event.session_id, event.call_id) IN (SELECT session_id, call_id FROM audit_event
      WHERE kind = 'approval_answered' AND organization = $2 AND principal = ${approver})`);
    conditions.push(`answer.principal = ${approver}`);
  }
  if (filter.beforeId !== undefined) conditions.push(`event.id < ${parameter(filter.beforeId.toString())}`);
  return { conditions: conditions.join(" AND "), limit: parameter(filter.limit), values };
}

function answerOf({ answer_id: id, answer }: ApprovedRow): Pick<ApprovedCall, "answer"> {
  return id === null || answer === null ? {} : { answer: { ...(JSON.parse(answer) as AuditEvent), id: BigInt(id) } };
}
