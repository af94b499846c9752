import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Principal } from "@hlvm/identity/principal";
import type { Database } from "@hlvm/postgres/database";
import { EventSchema, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
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
import { beginRun } from "./begin-run.ts";
import { eventOfRow } from "./event-rows.ts";
import { deleteSession, updateSession } from "./change-session.ts";
import type { Teams } from "../../domain/sharing/grant-store.ts";
import type { SessionRight } from "../../domain/sharing/session-grant.ts";
import { findRight } from "./postgres-grant-store.ts";
import { insertBesideRuns, insertFork, insertImported, insertOutsideRuns } from "./copy-session.ts";
import { insertMessage } from "./postgres-run-messages.ts";
import { listSessions } from "./list-sessions.ts";
import { SESSION_COLUMNS, sessionOfRow, type SessionRow } from "./session-rows.ts";

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
  readonly #teams: Teams;

  /**
   * @param replicaId of this process, which holds the runs that begin here
   * @param onAppend given the events with which this process began a run
   * @param teams of those who read what is shared; left out, nobody is in any
   */
  constructor(
    database: Database,
    replicaId: string,
    onAppend: (sessionId: string, events: readonly Event[]) => void,
    teams: Teams = { of: () => Promise.resolve([]) },
  ) {
    this.#database = database;
    this.#replicaId = replicaId;
    this.#onAppend = onAppend;
    this.#teams = teams;
  }

  async find(organization: string, sessionId: string): Promise<Session | undefined> {
    const [row] = await this.#database.query<SessionRow>(
      `SELECT ${SESSION_COLUMNS} FROM session WHERE organization = $1 AND session_id = $2`,
      [organization, sessionId],
      "find_session",
    );
    return row === undefined ? undefined : sessionOfRow(row);
  }

  async listFor(reader: SessionOwner, filter: SessionFilter, limit: number, after?: SessionPlace): Promise<SessionPage> {
    const teams = await this.#teamsOf(reader.organization, reader.id);
    return listSessions(this.#database, { ...reader, teams }, filter, limit, after);
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

  async rightTo(sessionId: string, { organization, id }: Principal): Promise<SessionRight | undefined> {
    return findRight(this.#database, sessionId, { organization, id, teams: await this.#teamsOf(organization, id) });
  }

  async appendBesideRuns(sessionId: string, principal: string, event: CopiedEvent): Promise<number | undefined> {
    const sequence = await insertBesideRuns(this.#database, sessionId, principal, event);
    if (sequence === undefined) return undefined;
    const { runId, turn, at, payload } = event;
    const appended = { sessionId, runId, sequence: BigInt(sequence), turn, payload, principal, at: timestampFromDate(at) };
    this.#onAppend(sessionId, [create(EventSchema, appended)]);
    return sequence;
  }

  fork(fork: Fork, marker: CopiedEvent): Promise<boolean> {
    return insertFork(this.#database, fork, marker);
  }

  async beginRun(run: NewRun): Promise<number> {
    const { sequence, events } = await beginRun(this.#database, run, this.#replicaId);
    this.#onAppend(run.lease.sessionId, events);
    return sequence;
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

  /** Where nobody can tell, what is shared with teams is left out, and the rest is there. */
  #teamsOf(organization: string, id: string): Promise<readonly string[]> {
    return this.#teams.of(organization, id).catch(() => []);
  }
}
