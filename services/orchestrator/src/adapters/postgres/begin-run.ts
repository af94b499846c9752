import { HlvmError } from "@hlvm/errors/hlvm-error";
import { eventType } from "@hlvm/ndjson/event-type";
import type { Database, Queries } from "@hlvm/postgres/database";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { RunBudget } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { Lease } from "../../domain/log/event-log.ts";
import { eventWords, searchWords } from "../../domain/log/search-words.ts";
import type { SessionFacts } from "../../domain/session/session.ts";
import type { NewRun } from "../../domain/session/session-store.ts";
import { runInProgress } from "./change-session.ts";
import { eventsOfAppend, payloadBytes, wordsOf } from "./event-rows.ts";
import { fileColumns } from "./postgres-attached-files.ts";
import { insertRunBudget } from "./postgres-budget-store.ts";

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

interface Begun {
  /** Of its first event. */
  readonly sequence: number;
  readonly events: readonly Event[];
}

/**
 * Begins a run in its session, which is made where it is new: either all of it is there or nothing.
 * @param replicaId of the process that holds it
 * @throws HlvmError `run_in_progress`, `session_not_found`
 */
export async function beginRun(database: Database, run: NewRun, replicaId: string): Promise<Begun> {
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
    replicaId,
    events.map(eventWords),
    ...fileColumns(run.files),
  ];
  const insert = (queries: Queries): Promise<{ before: string }[]> =>
    session.isNew
      ? queries.query(BEGIN_NEW, [...values, ...newSessionValues(facts)], "begin_new")
      : queries.query(BEGIN_AGAIN, values, "begin_again");
  const { budget } = run;
  const begin =
    budget === undefined ? insert(database) : database.transaction((queries) => insertWithBudget(queries, insert, lease, budget));
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
  return { sequence: before + 1, events: eventsOfAppend(appended, before, at) };
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
