import { HlvmError } from "@hlvm/errors/hlvm-error";
import { eventType } from "@hlvm/ndjson/event-type";
import type { Database, Queries } from "@hlvm/postgres/database";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { RunBudget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { Lease } from "../../domain/log/event-log.ts";
import type { AttachedFile } from "../../domain/session/attached-files.ts";
import type { Session, SessionFacts } from "../../domain/session/session.ts";
import type {
  CopiedEvent,
  Fork,
  NewRun,
  QueuedAt,
  SessionChanges,
  SessionFilter,
  SessionOwner,
  SessionPage,
  SessionPlace,
  SessionStore,
} from "../../domain/session/session-store.ts";
import type { EventPayload } from "../../domain/log/event-payload.ts";
import { eventWords, searchWords } from "../../domain/log/search-words.ts";
import { eventOfRow, eventsOfAppend, payloadBytes, wordsOf } from "./event-rows.ts";
import { deleteSession, runInProgress, updateSession } from "./change-session.ts";
import { insertFork, insertImported, insertOutsideRuns } from "./copy-session.ts";
import { insertMessage } from "./postgres-run-messages.ts";
import { fileColumns } from "./postgres-attached-files.ts";
import { listSessions } from "./list-sessions.ts";
import { insertRunBudget } from "./postgres-budget-store.ts";
import { SESSION_COLUMNS, sessionOfRow, type SessionRow } from "./session-rows.ts";

const UNIQUE_VIOLATION = "23505";

const BEGUN = `
  INSERT INTO run (run_id, session_id, principal, lease_owner, lease_until, delegation, appended, held_by)
  SELECT $2::uuid, session_id, $3, $4::uuid, 'infinity', $10::text, cardinality($5::text[]), $11::uuid`;

const EVENTS = `
  filed AS (
    INSERT INTO attachment (session_id, sha256, media_type, data)
    SELECT session_id, file.sha256, file.media_type, file.data
    FROM grown, unnest($13::text[], $14::text[], $15::bytea[]) AS file (sha256, media_type, data)
    ON CONFLICT DO NOTHING
  ),
  added AS (
    INSERT INTO event (session_id, seq, run_id, turn, type, payload, principal, at, words)
    SELECT session_id, before + item.place, $2::uuid, 0, item.type, item.payload, $3, $9, ${wordsOf("item.words")}
    FROM grown, unnest($5::text[], $6::bytea[], $12::text[]) WITH ORDINALITY AS item (type, payload, words, place)
  )
  SELECT before FROM grown`;

const WORKER_COLUMNS = "parent_session_id, parent_run_id, work_session_id, worker_depth, agent_type";

const BEGIN_NEW = `
  WITH grown AS (
    INSERT INTO session (session_id, organization, model, owner, title, workspace, git_repository, git_branch, stateless, secret_key, title_words, last_seq, ${WORKER_COLUMNS})
    VALUES ($1::uuid, $7, $8, $16, $17, $18, $19, $20, $21, $22, array_to_tsvector($23::text[]), cardinality($5::text[]), $24::uuid, $25::uuid, $26::uuid, $27, $28) RETURNING session_id, 0::bigint AS before
  ),
  begun AS (${BEGUN} FROM grown), ${EVENTS}`;

/** The run before the session, as appends have it: whoever ends the run before this one holds its row and wants the session's. */
const BEGIN_AGAIN = `
  WITH begun AS (${BEGUN} FROM session WHERE session_id = $1::uuid AND organization = $7 RETURNING session_id),
  grown AS (
    UPDATE session SET last_seq = last_seq + cardinality($5::text[]), model = $8, archived = false, updated_at = now()
    FROM begun WHERE session.session_id = begun.session_id
    RETURNING session.session_id, last_seq - cardinality($5::text[]) AS before
  ), ${EVENTS}`;

/** The workers of a run, and theirs, are cancelled with it, whichever processes hold them. */
const CANCEL = `
  WITH RECURSIVE found AS (
    SELECT run_id, ended_at IS NULL AS live FROM run JOIN session USING (session_id)
    WHERE run_id = $3 AND session_id = $2 AND organization = $1
  ), tree AS (
    SELECT run_id FROM found
    UNION ALL SELECT run.run_id FROM tree JOIN session ON parent_run_id = tree.run_id JOIN run USING (session_id)
  ), marked AS (
    UPDATE run SET cancel_requested_at = coalesce(cancel_requested_at, now()) FROM tree
    WHERE run.run_id = tree.run_id AND run.ended_at IS NULL
    RETURNING run.run_id, pg_notify('run_cancel', run.run_id::text)
  )
  SELECT live AND EXISTS (SELECT FROM marked WHERE marked.run_id = found.run_id) AS cancelled FROM found`;

const CANCEL_ORPHANS = `
  UPDATE run SET cancel_requested_at = now() FROM session JOIN run AS parent ON parent.run_id = session.parent_run_id
  WHERE run.session_id = session.session_id AND parent.ended_at IS NOT NULL AND run.ended_at IS NULL AND run.cancel_requested_at IS NULL
  RETURNING pg_notify('run_cancel', run.run_id::text)`;

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

  listOwned(owner: SessionOwner, filter: SessionFilter, limit: number, after?: SessionPlace): Promise<SessionPage> {
    return listSessions(this.#database, owner, filter, limit, after);
  }

  update(sessionId: string, changes: SessionChanges): Promise<void> {
    return updateSession(this.#database, sessionId, changes);
  }

  delete(sessionId: string): Promise<void> {
    return deleteSession(this.#database, sessionId);
  }

  createImported(organization: string, facts: SessionFacts, events: readonly CopiedEvent[], files: readonly AttachedFile[]): Promise<void> {
    return insertImported(this.#database, { organization, facts, events, files });
  }

  appendOutsideRuns(sessionId: string, principal: string, event: CopiedEvent): Promise<boolean> {
    return insertOutsideRuns(this.#database, sessionId, principal, event);
  }

  fork(fork: Fork, marker: CopiedEvent): Promise<boolean> {
    return insertFork(this.#database, fork, marker);
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
      events.map(eventWords),
      ...fileColumns(run.files),
    ];
    const insert = (queries: Queries): Promise<{ before: string }[]> =>
      session.isNew
        ? queries.query(BEGIN_NEW, [...values, ...newSessionValues(facts)], "begin_new")
        : queries.query(BEGIN_AGAIN, values, "begin_again");
    const { budget } = run;
    const begin =
      budget === undefined
        ? insert(this.#database)
        : this.#database.transaction((queries) => insertWithBudget(queries, insert, lease, budget));
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

  async queueMessage(
    sessionId: string,
    principal: string,
    message: EventPayload,
    files: readonly AttachedFile[],
  ): Promise<QueuedAt | undefined> {
    const queued = await insertMessage(this.#database, sessionId, principal, message, files);
    if (queued === undefined) return undefined;
    this.#onAppend(sessionId, [eventOfRow(sessionId, queued.row)]);
    return { runId: queued.runId, sequence: queued.sequence };
  }

  async requestCancel(organization: string, sessionId: string, runId: string): Promise<boolean | undefined> {
    const [row] = await this.#database.query<{ cancelled: boolean }>(CANCEL, [organization, sessionId, runId], "request_cancel");
    return row?.cancelled;
  }

  async cancelOrphans(): Promise<void> {
    await this.#database.query(CANCEL_ORPHANS, [], "cancel_orphans");
  }

  async deleteStateless(afterSeconds: number): Promise<void> {
    await this.#database.query(
      `DELETE FROM session WHERE stateless AND updated_at < now() - make_interval(secs => $1)
         AND NOT EXISTS (SELECT FROM run WHERE run.session_id = session.session_id AND (ended_at IS NULL OR reconcile_at IS NOT NULL))`,
      [afterSeconds],
    );
  }
}

async function insertWithBudget(
  queries: Queries,
  insert: (queries: Queries) => Promise<{ before: string }[]>,
  lease: Lease,
  budget: RunBudget,
): Promise<{ before: string }[]> {
  const begun = await insert(queries);
  await insertRunBudget(queries, lease, budget);
  return begun;
}

function newSessionValues({ owner, title, workspace, gitRepository, gitBranch, stateless, secretKey, worker }: SessionFacts): unknown[] {
  const { parentSessionId = null, parentRunId = null, workspaceSessionId = null, depth = 0, agentType = "" } = worker ?? {};
  const ofWorker = [parentSessionId, parentRunId, workspaceSessionId, depth, agentType];
  return [owner, title, workspace, gitRepository, gitBranch, stateless, secretKey, searchWords(title), ...ofWorker];
}

function isUniqueViolation(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === UNIQUE_VIOLATION;
}
