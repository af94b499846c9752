import type { Database } from "@hlvm/postgres/database";
import type { OutcomeEvent } from "../../domain/audit/audit-event.ts";
import type { OpenCall, OpenCalls } from "../../domain/audit/close-open-calls.ts";
import { appendEvent, recordOf } from "./event-record.ts";

const EVENTS_AT_ONCE = 1_000;

/** Whoever sweeps holds the mark's row, so that two replicas do not do the same work. */
const MARK = "SELECT until_id FROM outcome_sweep FOR UPDATE";

const NEXT = `
  SELECT next.*, next.at < $2 AS is_old,
    kind = 'intent' AND decision = 'allow' AND NOT EXISTS (
      SELECT FROM audit_event outcome WHERE outcome.kind = 'outcome' AND outcome.organization = next.organization
        AND outcome.session_id = next.session_id AND outcome.call_id = next.call_id) AS is_open
  FROM (SELECT id, at, kind, decision, organization, principal, session_id, run_id, call_id FROM audit_event
    WHERE id > $1 ORDER BY id LIMIT ${EVENTS_AT_ONCE}) AS next
  ORDER BY id`;

type NextRow = {
  readonly id: string;
  readonly is_old: boolean;
  readonly is_open: boolean;
  readonly organization: string;
  readonly principal: string;
  readonly session_id: string;
  readonly run_id: string;
  readonly call_id: string;
};

/** Goes through the log once, from where the last look ended: what it has passed is closed for good. */
export class PostgresOpenCalls implements OpenCalls {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  closeNext(before: Date, outcomeOf: (call: OpenCall) => OutcomeEvent): Promise<{ closed: number; hasMore: boolean }> {
    return this.#database.transaction(async (queries) => {
      const [mark] = await queries.query<{ until_id: string }>(MARK);
      const rows = await queries.query<NextRow>(NEXT, [mark!.until_id, before]);
      const young = rows.findIndex(({ is_old: isOld }) => !isOld);
      const old = young === -1 ? rows : rows.slice(0, young);
      const open = old.filter(({ is_open: isOpen }) => isOpen);
      for (const row of open) await queries.query(`SELECT ${appendEvent(1)}`, [recordOf(outcomeOf(callOf(row)))]);
      if (old.length > 0) await queries.query("UPDATE outcome_sweep SET until_id = $1", [old.at(-1)!.id]);
      return { closed: open.length, hasMore: old.length === EVENTS_AT_ONCE };
    });
  }
}

function callOf({ organization, principal, session_id: sessionId, run_id: runId, call_id: callId }: NextRow): OpenCall {
  return { organization, principal, sessionId, runId, callId };
}
