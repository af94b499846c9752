import type { Database } from "@hlvm/postgres/database";
import type { Approval, ApprovalAnswer, ApprovalState, RequestedApproval } from "../../domain/approval/approval.ts";
import type { ApprovalStore, ApprovalWatch } from "../../domain/approval/approval-store.ts";
import type { AuditEvent } from "../../domain/audit/audit-event.ts";
import type { SessionAllowance } from "../../domain/decide/question.ts";
import { APPROVAL_CHANNEL, type ApprovalNotices } from "./approval-notices.ts";
import { EVENT_COLUMNS, eventParameters, eventValues } from "./event-row.ts";

const MAXIMUM_PENDING = 200;
const IDENTITY_COLUMNS = "approval_id, organization, session_id, run_id, call_id, requested_by";
const CALL_COLUMNS = "tool, definition_hash, arguments_json, arguments_hash, safety_level, trust_tier, mode, scope, step, rule, reason";
const COLUMNS = `${IDENTITY_COLUMNS}, ${CALL_COLUMNS}, requested_at, expires_at, answer, answered_by, answered_at, used_at,
  answer IS NULL AND expires_at <= now() AS is_expired`;
/** Arguments of what nobody waits for any more: kept no longer than an hour after it expired. */
const FORGET =
  "UPDATE approval SET arguments_json = '' WHERE arguments_json <> '' AND expires_at < now() - interval '1 hour' AND answer IS NULL";

/** Writes an event, whose parameters begin with this number, in the statement of the change that it tells of. */
const appendFrom = (first: number, changed: string): string =>
  `INSERT INTO audit_event (${EVENT_COLUMNS}) SELECT ${eventParameters(first)} FROM ${changed}`;

const REQUEST = `
  WITH asked AS (
    INSERT INTO approval (${IDENTITY_COLUMNS}, ${CALL_COLUMNS}, expires_at)
    SELECT $1::uuid, $2, $3::uuid, $4::uuid, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::text[], $15, $16, $17, now() + make_interval(secs => $18)
    WHERE NOT EXISTS (SELECT FROM audit_event WHERE kind = 'intent' AND organization = $2 AND session_id = $3 AND call_id = $5)
    ON CONFLICT DO NOTHING RETURNING ${COLUMNS}
  ), event AS (${appendFrom(19, "asked")})
  SELECT * FROM asked`;

const ANSWER = `
  WITH answered AS (
    UPDATE approval SET answer = $3, answered_by = $4, answered_at = now()
    WHERE organization = $1 AND approval_id = $2 AND answer IS NULL AND used_at IS NULL AND expires_at > now() RETURNING ${COLUMNS}
  ), event AS (${appendFrom(5, "answered")}), told AS (SELECT pg_notify('${APPROVAL_CHANNEL}', approval_id::text) FROM answered)
  SELECT answered.* FROM answered, told`;

const USE = `
  WITH used AS (
    UPDATE approval SET used_at = now(), arguments_json = ''
    WHERE organization = $1 AND approval_id = $2 AND used_at IS NULL AND (answer IS NOT NULL OR expires_at <= now()) RETURNING approval_id
  ), event AS (${appendFrom(3, "used")})
  SELECT approval_id FROM used`;

type ApprovalRow = {
  readonly approval_id: string;
  readonly organization: string;
  readonly session_id: string;
  readonly run_id: string;
  readonly call_id: string;
  readonly requested_by: string;
  readonly tool: string;
  readonly definition_hash: string;
  readonly arguments_json: string;
  readonly arguments_hash: string;
  readonly safety_level: Approval["safetyLevel"];
  readonly trust_tier: Approval["trustTier"];
  readonly mode: Approval["mode"];
  readonly scope: string[];
  readonly step: Approval["step"];
  readonly rule: string;
  readonly reason: string;
  readonly requested_at: Date;
  readonly expires_at: Date;
  readonly answer: ApprovalAnswer | null;
  readonly answered_by: string | null;
  readonly answered_at: Date | null;
  readonly used_at: Date | null;
  readonly is_expired: boolean;
};

/** Approvals in PostgreSQL; the events that belong to a change are written by the statement that makes it. */
export class PostgresApprovalStore implements ApprovalStore {
  readonly #database: Database;
  readonly #notices: ApprovalNotices;

  constructor(database: Database, notices: ApprovalNotices) {
    this.#database = database;
    this.#notices = notices;
  }

  async request(asked: RequestedApproval, lifetimeSeconds: number, event: AuditEvent): Promise<Approval | undefined> {
    await this.#database.query(FORGET, [], "forget_arguments");
    const identity = [asked.approvalId, asked.organization, asked.sessionId, asked.runId, asked.callId, asked.requestedBy];
    const call = [
      asked.tool,
      asked.definitionHash,
      asked.argumentsJson,
      asked.argumentsHash,
      asked.safetyLevel,
      asked.trustTier,
      asked.mode,
    ];
    const why = [asked.scope, asked.step, asked.rule, asked.reason];
    return this.#one(REQUEST, [...identity, ...call, ...why, lifetimeSeconds, ...eventValues(event)], "request_approval");
  }

  async find(organization: string, approvalId: string): Promise<Approval | undefined> {
    return this.#one(
      `SELECT ${COLUMNS} FROM approval WHERE organization = $1 AND approval_id = $2`,
      [organization, approvalId],
      "find_approval",
    );
  }

  async findByCall(organization: string, sessionId: string, callId: string): Promise<Approval | undefined> {
    const sql = `SELECT ${COLUMNS} FROM approval WHERE organization = $1 AND session_id = $2 AND call_id = $3`;
    return this.#one(sql, [organization, sessionId, callId], "find_approval_by_call");
  }

  async pending(organization: string, filter: { readonly sessionId?: string; readonly requestedBy?: string }): Promise<Approval[]> {
    const sql = `SELECT ${COLUMNS} FROM approval
      WHERE organization = $1 AND answer IS NULL AND expires_at > now()
        AND ($2::uuid IS NULL OR session_id = $2) AND ($3::text IS NULL OR requested_by = $3)
      ORDER BY requested_at, approval_id LIMIT ${MAXIMUM_PENDING}`;
    return (await this.#database.query<ApprovalRow>(sql, [organization, filter.sessionId, filter.requestedBy], "pending_approvals")).map(
      approvalOf,
    );
  }

  async answer(organization: string, approvalId: string, answer: ApprovalAnswer, event: AuditEvent): Promise<Approval | undefined> {
    return this.#one(ANSWER, [organization, approvalId, answer, event.principal, ...eventValues(event)], "answer_approval");
  }

  async use(organization: string, approvalId: string, event: AuditEvent): Promise<boolean> {
    return (await this.#database.query(USE, [organization, approvalId, ...eventValues(event)], "use_approval")).length > 0;
  }

  async allowances(organization: string, sessionId: string, tool: string): Promise<SessionAllowance[]> {
    const sql = `SELECT tool, safety_level AS level, scope FROM approval
      WHERE organization = $1 AND session_id = $2 AND tool = $3 AND answer = 'session'`;
    return this.#database.query<SessionAllowance & Record<string, unknown>>(sql, [organization, sessionId, tool], "session_allowances");
  }

  watch(approvalId: string): ApprovalWatch {
    return this.#notices.watch(approvalId);
  }

  async #one(sql: string, values: readonly unknown[], name: string): Promise<Approval | undefined> {
    const [row] = await this.#database.query<ApprovalRow>(sql, values, name);
    return row === undefined ? undefined : approvalOf(row);
  }
}

function approvalOf(row: ApprovalRow): Approval {
  return {
    approvalId: row.approval_id,
    organization: row.organization,
    sessionId: row.session_id,
    runId: row.run_id,
    callId: row.call_id,
    tool: row.tool,
    definitionHash: row.definition_hash,
    argumentsJson: row.arguments_json,
    argumentsHash: row.arguments_hash,
    safetyLevel: row.safety_level,
    trustTier: row.trust_tier,
    mode: row.mode,
    scope: row.scope,
    step: row.step,
    rule: row.rule,
    reason: row.reason,
    state: stateOf(row),
    requestedBy: row.requested_by,
    requestedAt: row.requested_at,
    expiresAt: row.expires_at,
    ...(row.answer === null ? {} : { answer: row.answer }),
    ...(row.answered_by === null ? {} : { answeredBy: row.answered_by }),
    ...(row.answered_at === null ? {} : { answeredAt: row.answered_at }),
    isUsed: row.used_at !== null,
  };
}

function stateOf({ answer, is_expired: isExpired }: ApprovalRow): ApprovalState {
  if (answer !== null) return answer === "deny" ? "denied" : "approved";
  return isExpired ? "expired" : "pending";
}
