import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Queries } from "@hlvm/postgres/database";
import { CacheBreakSchema, CacheBreakSumSchema, type CacheBreak, type CacheBreakCause } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { BreaksQuestion, CacheBreaks } from "../../domain/budget/usage-log.ts";

const MOST_BREAKS = 1_000;

const WHICH = `organization = $1 AND ($2::text IS NULL OR principal = $2) AND ($3::timestamptz IS NULL OR at >= $3)
  AND ($4::timestamptz IS NULL OR at < $4) AND ($5::uuid IS NULL OR session_id = $5)`;
const BREAKS = `
  SELECT session_id, run_id, turn, at, model, break_cause, reusable_tokens, cache_read_tokens, break_cost FROM model_call
  WHERE break_cause IS NOT NULL AND ${WHICH} ORDER BY call_id DESC LIMIT ${MOST_BREAKS}`;
const SUMS = `
  SELECT break_cause, count(*) AS breaks, sum(reusable_tokens - cache_read_tokens) AS lost, coalesce(sum(break_cost), 0) AS cost
  FROM model_call WHERE break_cause IS NOT NULL AND ${WHICH} GROUP BY break_cause ORDER BY cost DESC, lost DESC`;
const CALLS = `SELECT count(*) AS calls FROM model_call WHERE ${WHICH}`;

type BreakRow = {
  readonly session_id: string;
  readonly run_id: string;
  readonly turn: number;
  readonly at: Date;
  readonly model: string;
  readonly break_cause: CacheBreakCause;
  readonly reusable_tokens: string;
  readonly cache_read_tokens: string;
  readonly break_cost: string | null;
};

/** Calls that paid anew for what the session's call before had sent. */
export async function queryBreaks(database: Queries, question: BreaksQuestion): Promise<CacheBreaks> {
  const { organization, principal, since, until, sessionId } = question;
  const values = [organization, principal ?? null, since ?? null, until ?? null, sessionId ?? null];
  const breaks = await database.query<BreakRow>(BREAKS, values);
  type SumRow = { break_cause: CacheBreakCause; breaks: string; lost: string; cost: string };
  const sums = await database.query<SumRow>(SUMS, values);
  const [counted] = await database.query<{ calls: string }>(CALLS, values);
  return {
    breaks: breaks.map(breakOf),
    sums: sums.map(({ break_cause: cause, breaks: count, lost, cost }) =>
      create(CacheBreakSumSchema, { cause, breaks: BigInt(count), lostTokens: BigInt(lost), nanoDollars: BigInt(cost) }),
    ),
    calls: BigInt(counted!.calls),
    brokenCalls: sums.reduce((sum, { breaks: count }) => sum + BigInt(count), 0n),
  };
}

function breakOf(row: BreakRow): CacheBreak {
  return create(CacheBreakSchema, {
    sessionId: row.session_id,
    runId: row.run_id,
    turn: row.turn,
    at: timestampFromDate(row.at),
    model: row.model,
    cause: row.break_cause,
    reusableTokens: BigInt(row.reusable_tokens),
    cachedTokens: BigInt(row.cache_read_tokens),
    ...(row.break_cost === null ? {} : { nanoDollars: BigInt(row.break_cost) }),
  });
}
