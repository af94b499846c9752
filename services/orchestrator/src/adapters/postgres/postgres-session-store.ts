import { HlvmError } from "@hlvm/errors/hlvm-error";
import { eventType } from "@hlvm/ndjson/event-type";
import type { Database } from "@hlvm/postgres/database";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Session } from "../../domain/session/session.ts";
import type { NewRun, SessionPage, SessionPlace, SessionStore } from "../../domain/session/session-store.ts";
import { eventsOfAppend, payloadBytes } from "./event-rows.ts";
import { SESSION_COLUMNS, sessionOfRow, type SessionRow } from "./session-rows.ts";

const UNIQUE_VIOLATION = "23505";

const BEGUN = `
  INSERT INTO run (run_id, session_id, principal, lease_owner, lease_until, delegation, appended, held_by)
  SELECT $2::uuid, session_id, $3, $4::uuid, 'infinity', $10::text, cardinality($5::text[]), $11::uuid`;

const EVENTS = `
  added AS (
    INSERT INTO event (session_id, seq, run_id, turn, type, payload, principal, at)
    SELECT session_id, before + item.place, $2::uuid, 0, item.type, item.payload, $3, $9
    FROM grown, unnest($5::text[], $6::bytea[]) WITH ORDINALITY AS item (type, payload, place)
  )
  SELECT before FROM grown`;

const BEGIN_NEW = `
  WITH grown AS (
    INSERT INTO session (session_id, organization, model, owner, title, workspace, git_repository, git_branch, stateless, secret_key, last_seq)
    VALUES ($1::uuid, $7, $8, $12, $13, $14, $15, $16, $17, $18, cardinality($5::text[])) RETURNING session_id, 0::bigint AS before
  ),
  begun AS (${BEGUN} FROM grown), ${EVENTS}`;

/** The run before the session, as appends have it: whoever ends the run before this one holds its row and wants the session's. */
const BEGIN_AGAIN = `
  WITH begun AS (${BEGUN} FROM session WHERE session_id = $1::uuid AND organization = $7 RETURNING session_id),
  grown AS (
    UPDATE session SET last_seq = last_seq + cardinality($5::text[]), model = $8, updated_at = now()
    FROM begun WHERE session.session_id = begun.session_id
    RETURNING session.session_id, last_seq - cardinality($5::text[]) AS before
  ), ${EVENTS}`;

/**
 * No index has updated_at: every append changes it, and would have to write the index too. Sorting 2,000 sessions takes
 * some 2 ms, and what has to be looked up for a session is looked up for those of the page alone.
 */
const LIST = `
  SELECT ${SESSION_COLUMNS}, to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
  FROM session
  WHERE organization = $1 AND owner = $2 AND NOT stateless
    AND ($4::timestamptz IS NULL OR (updated_at, session_id) < ($4::timestamptz, $5::uuid))
  ORDER BY updated_at DESC, session_id DESC LIMIT $3`;

const CANCEL = `
  WITH found AS (
    SELECT run_id, ended_at IS NULL AS live FROM run JOIN session USING (session_id)
    WHERE run_id = $3 AND session_id = $2 AND organization = $1
  ), marked AS (
    UPDATE run SET cancel_requested_at = coalesce(cancel_requested_at, now()) FROM found
    WHERE run.run_id = found.run_id AND run.ended_at IS NULL
    RETURNING pg_notify('run_cancel', run.run_id::text)
  )
  SELECT live AND EXISTS (SELECT FROM marked) AS cancelled FROM found`;

/** Sessions and runs in PostgreSQL. */
export class PostgresSessionStore implements SessionStore {
  readonly #database: Database;
  readonly #replicaId: string;
  readonly #onAppend: (sessionId: string, events: readonly Event[]) => void;

  /**
   * @param replicaId of this process, which holds the runs that begin here
   * @param onAppend given the events with which this process began a run
   */
  constructor(database: Database, replicaId: string, onAppend: (sessionId: string, events: readonly Event[]) => void) {
    this.#database = database;
    this.#replicaId = replicaId;
    this.#onAppend = onAppend;
  }

  async find(organization: string, sessionId: string): Promise<Session | undefined> {
    const [row] = await this.#database.query<SessionRow>(
      `SELECT ${SESSION_COLUMNS} FROM session WHERE organization = $1 AND session_id = $2`,
      [organization, sessionId],
      "find_session",
    );
    return row === undefined ? undefined : sessionOfRow(row);
  }

  async listOwned(organization: string, owner: string, limit: number, after?: SessionPlace): Promise<SessionPage> {
    const values = [organization, owner, limit + 1, after?.updatedAt ?? null, after?.sessionId ?? null];
    const rows = await this.#database.query<SessionRow & { place: string }>(LIST, values, "list_sessions");
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return {
      sessions: page.map(sessionOfRow),
      end: last === undefined ? undefined : { updatedAt: last.place, sessionId: last.session_id },
    };
  }

  async beginRun(run: NewRun): Promise<number> {
    const { lease, events, session } = run;
    const { facts } = session;
    const at = new Date();
    const values: unknown[] = [
      lease.sessionId,
      lease.runId,
      run.principal,
      lease.owner,
      events.map((payload) => eventType(payload.case)),
      events.map(payloadBytes),
      run.organization,
      run.model,
      at,
      run.delegation,
      this.#replicaId,
    ];
    const begin = session.isNew
      ? this.#database.query<{ before: string }>(
          BEGIN_NEW,
          [...values, facts.owner, facts.title, facts.workspace, facts.gitRepository, facts.gitBranch, facts.stateless, facts.secretKey],
          "begin_new",
        )
      : this.#database.query<{ before: string }>(BEGIN_AGAIN, values, "begin_again");
    const [begun] = await begin.catch((cause: unknown) => {
      throw isUniqueViolation(cause) ? runInProgress(lease.sessionId, cause) : cause;
    });
    if (begun === undefined)
      throw new HlvmError({
        code: "not_found",
        reason: "session_not_found",
        message: `There is no session ${lease.sessionId}.`,
        advice: "`hlvm session list` shows yours.",
      });
    const before = Number(begun.before);
    const appended = { lease, principal: run.principal, events: events.map((payload) => ({ turn: 0, payload })) };
    this.#onAppend(lease.sessionId, eventsOfAppend(appended, before, at));
    return before + 1;
  }

  async requestCancel(organization: string, sessionId: string, runId: string): Promise<boolean | undefined> {
    const [row] = await this.#database.query<{ cancelled: boolean }>(CANCEL, [organization, sessionId, runId], "request_cancel");
    return row?.cancelled;
  }

  async deleteStateless(afterSeconds: number): Promise<void> {
    await this.#database.query(
      `DELETE FROM session WHERE stateless AND updated_at < now() - make_interval(secs => $1)
         AND NOT EXISTS (SELECT FROM run WHERE run.session_id = session.session_id AND (ended_at IS NULL OR reconcile_at IS NOT NULL))`,
      [afterSeconds],
    );
  }
}

function isUniqueViolation(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === UNIQUE_VIOLATION;
}

function runInProgress(sessionId: string, cause: unknown): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "run_in_progress",
    message: `Session ${sessionId} has a run that is still going on.`,
    advice: `Follow it with \`hlvm session watch ${sessionId}\`, and ask again when it has ended; Ctrl-C where it was asked ends it.`,
    cause,
  });
}
