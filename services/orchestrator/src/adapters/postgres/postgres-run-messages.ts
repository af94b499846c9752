import type { Database, Queries } from "@hlvm/postgres/database";
import { eventType } from "@hlvm/ndjson/event-type";
import type { Lease } from "../../domain/log/event-log.ts";
import type { EventPayload } from "../../domain/log/event-payload.ts";
import { eventWords } from "../../domain/log/search-words.ts";
import type { QueuedMessage, RunMessages } from "../../domain/run/run-inbox.ts";
import type { AttachedFile } from "../../domain/session/attached-files.ts";
import type { QueuedAt } from "../../domain/session/session-store.ts";
import { EVENT_COLUMNS, eventOfRow, payloadBytes, wordsOf, type EventRow } from "./event-rows.ts";
import { fileColumns } from "./postgres-attached-files.ts";

/** That a run is sent in all: more are not read by anybody. */
const MOST_MESSAGES = 1_000;

/**
 * The run before the session, as appends have it: a run that ends at this moment has its row first, and takes no message, or
 * finds this one. A run that waits for a person goes on at once where it is interrupted.
 */
const QUEUE = `
  WITH live AS (
    UPDATE run SET queued = queued + 1, parked_until = CASE WHEN $2 AND parked_until IS NOT NULL THEN now() ELSE parked_until END
    WHERE session_id = $1::uuid AND ended_at IS NULL AND NOT is_closing AND queued < ${MOST_MESSAGES}
    RETURNING run_id, session_id, pg_notify('run_message', run_id::text)
  ),
  grown AS (
    UPDATE session SET last_seq = last_seq + 1, updated_at = now() FROM live WHERE session.session_id = live.session_id
    RETURNING session.session_id, last_seq, live.run_id
  ),
  filed AS (
    INSERT INTO attachment (session_id, sha256, media_type, data)
    SELECT session_id, file.sha256, file.media_type, file.data
    FROM grown, unnest($7::text[], $8::text[], $9::bytea[]) AS file (sha256, media_type, data)
    ON CONFLICT DO NOTHING
  )
  INSERT INTO event (session_id, seq, run_id, turn, type, payload, principal, at, words)
  SELECT session_id, last_seq, run_id, 0, $3, $4, $5, now(), ${wordsOf("$6::text")} FROM grown
  RETURNING ${EVENT_COLUMNS}`;

const READ = `SELECT ${EVENT_COLUMNS} FROM event WHERE session_id = $1 AND run_id = $2 AND type = 'message_queued' ORDER BY seq`;

const CLOSE = `
  UPDATE run SET is_closing = true WHERE run_id = $1 AND lease_owner = $2 AND ended_at IS NULL AND queued = $3 RETURNING run_id`;

/** Writes a message for the live run of a session. @returns undefined where there is none that takes it */
export async function insertMessage(
  queries: Queries,
  sessionId: string,
  principal: string,
  payload: EventPayload,
  files: readonly AttachedFile[],
): Promise<(QueuedAt & { readonly row: EventRow }) | undefined> {
  const interrupts = payload.case === "messageQueued" && payload.value.interrupts;
  const values = [
    sessionId,
    interrupts,
    eventType(payload.case),
    payloadBytes(payload),
    principal,
    eventWords(payload),
    ...fileColumns(files),
  ];
  const [row] = await queries.query<EventRow>(QUEUE, values, "queue_message");
  return row === undefined ? undefined : { runId: row.run_id, sequence: Number(row.seq), row };
}

/** Messages of runs in PostgreSQL. */
export class PostgresRunMessages implements RunMessages {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async count(runId: string): Promise<number> {
    const [row] = await this.#database.query<{ queued: number }>("SELECT queued FROM run WHERE run_id = $1", [runId], "count_messages");
    return row?.queued ?? 0;
  }

  async read(sessionId: string, runId: string): Promise<readonly QueuedMessage[]> {
    const rows = await this.#database.query<EventRow>(READ, [sessionId, runId], "read_messages");
    return rows.flatMap((row) => {
      const { sequence, principal, payload } = eventOfRow(sessionId, row);
      if (payload.case !== "messageQueued") return [];
      const { text, interrupts, attachments } = payload.value;
      return [{ sequence, author: principal, text, interrupts, attachments }];
    });
  }

  async close({ runId, owner }: Lease, count: number): Promise<boolean> {
    return (await this.#database.query(CLOSE, [runId, owner, count], "close_run")).length > 0;
  }
}
