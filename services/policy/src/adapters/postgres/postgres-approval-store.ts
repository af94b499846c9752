import type { Database } from "@hlvm/postgres/database";
import type { Approval, FilePreview, RequestedApproval } from "../../domain/approval/approval.ts";
import type {
  ApprovalFilter,
  ApprovalPage,
  ApprovalStore,
  ApprovalWatch,
  AskedPage,
  KeptAnswer,
  PendingFilter,
  UntakenAnswer,
} from "../../domain/approval/approval-store.ts";
import type { AuditEvent } from "../../domain/audit/audit-event.ts";
import type { SessionAllowance } from "../../domain/decide/question.ts";
import { APPROVAL_CHANNEL, type ApprovalNotices } from "./approval-notices.ts";
import { APPROVAL_COLUMNS, approvalOf, CALL_COLUMNS, IDENTITY_COLUMNS, IS_PENDING, type ApprovalRow } from "./approval-row.ts";
import { readApprovalPage } from "./approval-page.ts";
import { appendEvent, recordOf } from "./event-record.ts";

const MAXIMUM_PENDING = 200;
const MAXIMUM_UNTAKEN = 10_000;
/** Arguments, words and signatures of what expired more than an hour ago, answered or not: nobody waits for it any more. */
const FORGET = `
  UPDATE approval SET arguments_json = '', preview = NULL, answer_text = NULL, answer_delegation = NULL
  WHERE (arguments_json <> '' OR answer_text IS NOT NULL OR answer_delegation IS NOT NULL) AND expires_at < now() - interval '1 hour'`;

/** Of each session its oldest ones, as far as there is room, so that one which asks without end hides no other. */
const PENDING = `
  SELECT ${APPROVAL_COLUMNS} FROM approval WHERE approval_id IN (
    SELECT approval_id FROM (
      SELECT approval_id, requested_at, row_number() OVER (PARTITION BY session_id ORDER BY requested_at, approval_id) AS place FROM approval
      WHERE organization = $1 AND ${IS_PENDING}
        AND ($2::uuid IS NULL OR session_id = $2) AND ($3::uuid IS NULL OR run_id = $3) AND ($4::text IS NULL OR requested_by = $4)
    ) AS pending ORDER BY place, requested_at LIMIT ${MAXIMUM_PENDING}
  ) ORDER BY requested_at, approval_id`;

const REQUEST = `
  WITH asked AS (
    INSERT INTO approval (${IDENTITY_COLUMNS}, ${CALL_COLUMNS}, expires_at)
    SELECT $1::uuid, $2, $3::uuid, $4::uuid, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::text[], $15, $16, $17, $18, $19::jsonb, now() + make_interval(secs => $20)
    WHERE NOT EXISTS (SELECT FROM audit_event WHERE kind = 'intent' AND organization = $2 AND session_id = $3 AND call_id = $5)
    ON CONFLICT DO NOTHING RETURNING ${APPROVAL_COLUMNS}
  )
  SELECT asked.*, ${appendEvent(21)} FROM asked`;

const ATTACH_PREVIEW = `
  UPDATE approval SET preview = $3::jsonb
  WHERE organization = $1 AND approval_id = $2 AND preview IS NULL AND ${IS_PENDING} RETURNING ${APPROVAL_COLUMNS}`;

const ANSWER = `
  WITH answered AS (
    UPDATE approval SET answer = $3, answered_by = $4, answered_at = now(), answer_text = $6, answer_mode = $7, answer_delegation = $8, answer_key = $9
    WHERE organization = $1 AND approval_id = $2 AND ${IS_PENDING} RETURNING ${APPROVAL_COLUMNS}
  )
  SELECT answered.*, ${appendEvent(5)}, pg_notify('${APPROVAL_CHANNEL}', approval_id::text) FROM answered`;

const WITHDRAW = `
  WITH withdrawn AS (
    UPDATE approval SET withdrawn_at = now(), arguments_json = '', preview = NULL
    WHERE organization = $1 AND approval_id = $2 AND ${IS_PENDING} RETURNING approval_id
  )
  SELECT ${appendEvent(3)}, pg_notify('${APPROVAL_CHANNEL}', approval_id::text) FROM withdrawn`;

/** Of a call that is allowed with it the arguments stay, since its grant may have to be given again. */
const USE = `
  WITH taken AS (
    SELECT approval_id FROM approval
    WHERE organization = $1 AND approval_id = $2 AND used_at IS NULL AND (answer IS NOT NULL OR withdrawn_at IS NOT NULL OR expires_at <= now())
    FOR UPDATE
  ), event AS (SELECT approval_id, ${appendEvent(3)} FROM taken), used AS (
    UPDATE approval SET used_at = now(), arguments_json = CASE WHEN event.id IS NOT NULL AND $4 THEN arguments_json ELSE '' END,
      preview = CASE WHEN event.id IS NOT NULL AND $4 THEN preview END
    FROM event WHERE approval.approval_id = event.approval_id RETURNING event.id
  )
  SELECT id FROM used WHERE id IS NOT NULL`;

/** A run may have taken its answer, and have been parked before it heard it: for a minute it is told also of that. */
const UNTAKEN = `
  SELECT approval_id AS "approvalId", run_id AS "runId" FROM (
    SELECT approval_id, run_id, answered_at FROM approval
    WHERE answer IS NOT NULL AND used_at IS NULL AND answered_at > now() - make_interval(secs => $1)
    UNION
    SELECT approval_id, run_id, answered_at FROM approval WHERE answer IS NOT NULL AND answered_at > now() - interval '1 minute'
  ) AS answered ORDER BY answered_at DESC LIMIT ${MAXIMUM_UNTAKEN}`;

/** Approvals in PostgreSQL; the event that belongs to a change is appended by the statement that makes it. */
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
    const why = [asked.scope, asked.step, asked.rule, asked.reason, asked.kind, asked.settings && JSON.stringify(asked.settings)];
    return this.#one(REQUEST, [...identity, ...call, ...why, lifetimeSeconds, recordOf(event)], "request_approval");
  }

  async find(organization: string, approvalId: string): Promise<Approval | undefined> {
    return this.#one(
      `SELECT ${APPROVAL_COLUMNS} FROM approval WHERE organization = $1 AND approval_id = $2`,
      [organization, approvalId],
      "find_approval",
    );
  }

  async attachPreview(organization: string, approvalId: string, preview: FilePreview): Promise<Approval | undefined> {
    const values = [organization, approvalId, JSON.stringify(preview)];
    return (await this.#one(ATTACH_PREVIEW, values, "attach_preview")) ?? this.find(organization, approvalId);
  }

  async findByCall(organization: string, sessionId: string, callId: string): Promise<Approval | undefined> {
    const sql = `SELECT ${APPROVAL_COLUMNS} FROM approval WHERE organization = $1 AND session_id = $2 AND call_id = $3`;
    return this.#one(sql, [organization, sessionId, callId], "find_approval_by_call");
  }

  async pending(organization: string, { sessionId, runId, requestedBy }: PendingFilter): Promise<Approval[]> {
    const rows = await this.#database.query<ApprovalRow>(PENDING, [organization, sessionId, runId, requestedBy], "pending_approvals");
    return rows.map(approvalOf);
  }

  page(organization: string, filter: ApprovalFilter, asked: AskedPage): Promise<ApprovalPage> {
    return readApprovalPage(this.#database, organization, filter, asked);
  }

  async answer(
    organization: string,
    approvalId: string,
    { answer, text, mode, delegation, idempotencyKey }: KeptAnswer,
    event: AuditEvent,
  ): Promise<Approval | undefined> {
    const said = [text || null, mode, delegation || null, idempotencyKey];
    return this.#one(ANSWER, [organization, approvalId, answer, event.principal, recordOf(event), ...said], "answer_approval");
  }

  async withdraw(organization: string, approvalId: string, event: AuditEvent): Promise<boolean> {
    return (await this.#database.query(WITHDRAW, [organization, approvalId, recordOf(event)], "withdraw_approval")).length > 0;
  }

  async use(organization: string, approvalId: string, event: AuditEvent): Promise<boolean> {
    const values = [organization, approvalId, recordOf(event), event.decision === "allow"];
    return (await this.#database.query(USE, values, "use_approval")).length > 0;
  }

  async allowances(organization: string, sessionId: string, tool: string): Promise<SessionAllowance[]> {
    const sql = `SELECT tool, safety_level AS level, scope, step FROM approval
      WHERE organization = $1 AND session_id = $2 AND tool = $3 AND answer = 'session'`;
    return this.#database.query<SessionAllowance & Record<string, unknown>>(sql, [organization, sessionId, tool], "session_allowances");
  }

  watch(approvalId: string): ApprovalWatch {
    return this.#notices.watch(approvalId);
  }

  async untaken(seconds: number): Promise<UntakenAnswer[]> {
    return this.#database.query<UntakenAnswer & Record<string, unknown>>(UNTAKEN, [seconds], "untaken_answers");
  }

  watchAll(): ApprovalWatch {
    return this.#notices.watchAll();
  }

  async #one(sql: string, values: readonly unknown[], name: string): Promise<Approval | undefined> {
    const [row] = await this.#database.query<ApprovalRow>(sql, values, name);
    return row === undefined ? undefined : approvalOf(row);
  }
}
