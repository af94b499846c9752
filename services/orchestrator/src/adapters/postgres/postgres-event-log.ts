import { HlvmError } from "@hlvm/errors/hlvm-error";
import { eventType } from "@hlvm/ndjson/event-type";
import type { Database } from "@hlvm/postgres/database";
import type { Event, ToolEnd } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { SettledCall } from "../../domain/budget/budget-store.ts";
import type { Append, EventLog, LogPage, PageBefore } from "../../domain/log/event-log.ts";
import { eventWords } from "../../domain/log/search-words.ts";
import { withoutUndone } from "../../domain/fold/without-undone.ts";
import { appendEach } from "./append-each.ts";
import { EVENT_COLUMNS, eventOfRow, eventsOfAppend, payloadBytes, wordsOf, type EventRow } from "./event-rows.ts";
import { readContext, readUndone } from "./read-context.ts";
import { turnOfCall } from "../../domain/tools/call-id.ts";

/** A deadlock, and a transaction that could not be put in order with others. */
const CONFLICTS: ReadonlySet<unknown> = new Set(["40P01", "40001"]);
const READ_BYTES = 1_000_000;
const READ_EVENTS = 500;

/**
 * One statement: the claim is checked on the locked row of the run, so that whoever takes the run over waits for this
 * append or this append for them, and finds it lost. The sequence is taken from the locked row of the session, which
 * people and approvals grow as well.
 */
const append = (ending: string, spent = "", last = ""): string => `
  WITH held AS (
    UPDATE run SET appended = appended + cardinality($5::int[])${ending}
    WHERE run_id = $2::uuid AND session_id = $1::uuid AND lease_owner = $3::uuid AND lease_until > now() AND ended_at IS NULL AND appended = $4
    RETURNING run_id
  ),
  grown AS (
    UPDATE session SET last_seq = last_seq + cardinality($5::int[]), updated_at = now()${spent}
    FROM held WHERE session.session_id = $1::uuid
    RETURNING session.session_id, last_seq - cardinality($5::int[]) AS before
  ),
  added AS (
    INSERT INTO event (session_id, seq, run_id, turn, type, payload, principal, at, words)
    SELECT session_id, before + item.place, $2::uuid, item.turn, item.type, item.payload, $8, $9, ${wordsOf("item.words")}
    FROM grown, unnest($5::int[], $6::text[], $7::bytea[], $10::text[]) WITH ORDINALITY AS item (turn, type, payload, words, place)
  )
  SELECT before${last} FROM grown`;

/** What policy was still asked when a run ended has been decided by then. */
const DECIDED = "interval '10 seconds'";
const APPEND = append("");
/** The calls count, and are on record, where the append is: whoever gives it again finds it there and settles nothing twice. */
const APPEND_SETTLED = append(
  "",
  ", cost = cost + $11, unpriced_calls = unpriced_calls + $12",
  ", settle_calls($2::uuid, $13::text[], $14::jsonb)",
);
const APPEND_LAST = append(
  `, ended_at = now(), stop_reason = $11, delegation = CASE WHEN $12 THEN delegation END,
    reconcile_at = CASE WHEN $12 THEN now() + ${DECIDED} END`,
  ", cost = cost + $13, unpriced_calls = unpriced_calls + $14",
  ", settle_calls($2::uuid, $15::text[], $16::jsonb), close_budgets(ARRAY[$2::uuid])",
);

const FOUND = "SELECT appended, ended_at IS NOT NULL AS ended FROM run WHERE run_id = $2 AND session_id = $1 AND lease_owner = $3";

/** One row more than a page holds is looked at, to tell whether there is more. */
const READ = `
  SELECT ${EVENT_COLUMNS}, found FROM (
    SELECT ${EVENT_COLUMNS}, count(*) OVER () AS found, row_number() OVER w AS place, sum(octet_length(payload)) OVER w - octet_length(payload) AS before
    FROM (SELECT ${EVENT_COLUMNS} FROM event WHERE session_id = $1 AND seq >= $2 ORDER BY seq LIMIT ${READ_EVENTS + 1}) AS next
    WINDOW w AS (ORDER BY seq)
  ) AS measured WHERE before < ${READ_BYTES} AND place <= ${READ_EVENTS} ORDER BY seq`;

/**
 * The same backwards from a sequence, $4 of them at most. Where $3 is set, pieces of an answer or of thinking are left out that
 * stand before an answer of their run, and pieces of output before the end of a turn. What stands behind is still coming, or was
 * cut and is nowhere whole.
 */
const READ_BEFORE = `
  WITH whole AS (
    SELECT run_id, max(seq) FILTER (WHERE type = 'assistant_message') AS said, max(seq) FILTER (WHERE type <> 'assistant_message') AS done
    FROM event WHERE session_id = $1 AND type IN ('assistant_message', 'turn_stats', 'run_stopped') GROUP BY run_id
  )
  SELECT ${EVENT_COLUMNS}, found FROM (
    SELECT ${EVENT_COLUMNS}, count(*) OVER () AS found, row_number() OVER w AS place, sum(octet_length(payload)) OVER w - octet_length(payload) AS before
    FROM (
      SELECT ${EVENT_COLUMNS} FROM event LEFT JOIN whole USING (run_id) WHERE session_id = $1 AND ($2 = 0 OR seq < $2) AND NOT ($3
        AND (type IN ('message_delta', 'reasoning_update') AND seq < coalesce(said, 0) OR type = 'tool_output' AND seq < coalesce(done, 0)))
      ORDER BY seq DESC LIMIT $4::int + 1
    ) AS last
    WINDOW w AS (ORDER BY seq DESC)
  ) AS measured WHERE before < ${READ_BYTES} AND place <= $4::int ORDER BY seq`;

const CONVERSATION_TYPES = "'user_message', 'message_queued', 'run_started', 'assistant_message', 'tool_end', 'conversation_undone'";
const READ_RUN = `
  SELECT ${EVENT_COLUMNS} FROM event
  WHERE session_id = $1 AND run_id = $2 AND type IN ('user_message', 'run_started', 'assistant_message', 'tool_end', 'usage_update',
    'worker_spawned', 'worker_permission', 'worker_completed', 'reminder', 'call_replayed', 'turn_replayed')
  ORDER BY seq`;
const RUN_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** With what may have undone it. */
const READ_RESULT = `
  SELECT ${EVENT_COLUMNS} FROM event
  WHERE session_id = $1 AND (seq = $2 AND type = 'tool_end' OR seq > $2 AND type = 'conversation_undone') ORDER BY seq`;
const READ_ENDS = `
  SELECT ${EVENT_COLUMNS} FROM event WHERE session_id = $1 AND run_id = $2 AND turn = $3 AND type = 'tool_end' ORDER BY seq`;
const READ_CONVERSATION = `
  SELECT ${EVENT_COLUMNS} FROM event WHERE session_id = $1 AND type IN (${CONVERSATION_TYPES}, 'usage_update') ORDER BY seq`;
const READ_RECORDED = `
  SELECT ${EVENT_COLUMNS} FROM event
  WHERE session_id = $1 AND type NOT IN ('thinking', 'message_delta', 'reasoning_update', 'tool_output', 'tool_waiting', 'usage_update') ORDER BY seq`;

/** The log in PostgreSQL. */
export class PostgresEventLog implements EventLog {
  readonly #database: Database;
  readonly #onAppend: (sessionId: string, events: readonly Event[]) => void;

  /** @param onAppend given what this process appended; nothing where it was there already, from an append whose answer was lost */
  constructor(database: Database, onAppend: (sessionId: string, events: readonly Event[]) => void) {
    this.#database = database;
    this.#onAppend = onAppend;
  }

  async append(request: Append): Promise<void> {
    const { lease, events } = request;
    const at = new Date();
    const values: unknown[] = [
      lease.sessionId,
      lease.runId,
      lease.owner,
      request.position,
      events.map((event) => event.turn),
      events.map((event) => eventType(event.payload.case)),
      events.map((event) => payloadBytes(event.payload)),
      request.principal,
      at,
      events.map((event) => eventWords(event.payload)),
    ];
    const [appended] = await this.#insert(request, values).catch((cause: unknown) => {
      throw isConflict(cause) ? writeConflict(cause) : cause;
    });
    if (appended === undefined) await this.#requireThere(request);
    this.#onAppend(lease.sessionId, appended === undefined ? [] : eventsOfAppend(request, Number(appended.before), at));
  }

  #insert({ stopReason, isUnreconciled, settled = [], teams = [] }: Append, values: readonly unknown[]): Promise<{ before: string }[]> {
    const spending = [...spendingOf(settled), teams, JSON.stringify(settled, bigintAsText)];
    if (stopReason !== undefined)
      return this.#database.query(APPEND_LAST, [...values, stopReason, isUnreconciled === true, ...spending], "append_last");
    if (settled.length === 0) return this.#database.query(APPEND, values, "append");
    return this.#database.query(APPEND_SETTLED, [...values, ...spending], "append_settled");
  }

  async appendEach(requests: readonly Append[]): Promise<readonly boolean[]> {
    const at = new Date();
    const appended = await appendEach(this.#database, requests, at);
    return requests.map((request) => {
      const { runId, sessionId } = request.lease;
      const before = appended.get(runId);
      if (before !== undefined) this.#onAppend(sessionId, eventsOfAppend(request, before, at));
      return before !== undefined;
    });
  }

  async read(sessionId: string, from: number): Promise<LogPage> {
    const rows = await this.#database.query<EventRow & { found: string }>(READ, [sessionId, from], "read_events");
    const events = readableOf(sessionId, rows);
    return { events, hasMore: Number(rows[0]?.found ?? 0) > events.length };
  }

  async readBefore(sessionId: string, { before, limit, settled }: PageBefore): Promise<LogPage> {
    const rows = await this.#database.query<EventRow & { found: string }>(READ_BEFORE, [sessionId, before, settled, limit], "read_before");
    return { events: readableOf(sessionId, rows), hasMore: Number(rows[0]?.found ?? 0) > rows.length };
  }

  readContext(sessionId: string): Promise<Event[]> {
    return readContext(this.#database, sessionId);
  }

  readUndone(sessionId: string): Promise<Event[]> {
    return readUndone(this.#database, sessionId);
  }

  async readConversation(sessionId: string): Promise<Event[]> {
    const rows = await this.#database.query<EventRow>(READ_CONVERSATION, [sessionId], "read_conversation");
    return withoutUndone(rows.map((row) => eventOfRow(sessionId, row)));
  }

  async readRecorded(sessionId: string): Promise<Event[]> {
    const rows = await this.#database.query<EventRow>(READ_RECORDED, [sessionId], "read_recorded");
    return withoutUndone(rows.map((row) => eventOfRow(sessionId, row)));
  }

  async readRun(sessionId: string, runId: string): Promise<Event[]> {
    const rows = await this.#database.query<EventRow>(READ_RUN, [sessionId, runId], "read_run");
    return rows.map((row) => eventOfRow(sessionId, row));
  }

  async readResult(sessionId: string, sequence: number): Promise<ToolEnd | undefined> {
    const rows = await this.#database.query<EventRow>(READ_RESULT, [sessionId, sequence], "read_result");
    const payload = withoutUndone(rows.map((row) => eventOfRow(sessionId, row)))[0]?.payload;
    return payload?.case === "toolEnd" ? payload.value : undefined;
  }

  async readOutput(sessionId: string, callId: string): Promise<ToolEnd | undefined> {
    const [runId = ""] = callId.split(".", 1);
    if (!RUN_ID.test(runId)) return undefined;
    const rows = await this.#database.query<EventRow>(READ_ENDS, [sessionId, runId, turnOfCall(callId)], "read_ends");
    for (const row of rows) {
      const { payload } = eventOfRow(sessionId, row);
      if (payload.case === "toolEnd" && payload.value.callId === callId) return payload.value;
    }
    return undefined;
  }

  /** An append whose answer was lost, given again, finds its events there: only this claim could have written them. */
  async #requireThere({ lease, position, events, stopReason }: Append): Promise<void> {
    const [found] = await this.#database.query<{ appended: string; ended: boolean }>(FOUND, [lease.sessionId, lease.runId, lease.owner]);
    if (found !== undefined && Number(found.appended) === position + events.length && found.ended === (stopReason !== undefined)) return;
    throw new HlvmError({
      code: "failed_precondition",
      reason: "lease_lost",
      message: `Run ${lease.runId} is not held by this claim any more; nothing was appended.`,
      advice: "Whoever holds the run now goes on with it, or has ended it: its log says so.",
    });
  }
}

/** Up to the first one that cannot be read, so that what stands before it can be. @throws HlvmError where that is the first one */
function readableOf(sessionId: string, rows: readonly EventRow[]): Event[] {
  const events: Event[] = [];
  try {
    for (const row of rows) events.push(eventOfRow(sessionId, row));
  } catch (cause) {
    if (events.length === 0) throw cause;
  }
  return events;
}

function isConflict(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && CONFLICTS.has(thrown.code);
}

function writeConflict(cause: unknown): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "write_conflict",
    message: "PostgreSQL gave up on an append that got in another one's way; nothing was written.",
    advice: "Try again.",
    cause,
  });
}

/** What the session's calls cost together, and how many of them have no known price. */
function spendingOf(settled: readonly SettledCall[]): [string, number] {
  const cost = settled.reduce((sum, call) => sum + (call.cost ?? 0n), 0n);
  return [cost.toString(), settled.filter((call) => call.cost === undefined).length];
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
