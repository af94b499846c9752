import { create } from "@bufbuild/protobuf";
import type { Queries } from "@hlvm/postgres/database";
import { UsageDimension, UsageRowSchema, type UsageRow } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { EarlierCall } from "../../domain/budget/prefix-ledger.ts";
import type { BreaksQuestion, CacheBreaks, UsageLog, UsageQuestion } from "../../domain/budget/usage-log.ts";
import { queryBreaks } from "./query-breaks.ts";

const MAXIMUM_ROWS = 10_000;

const COLUMNS: Partial<Record<UsageDimension, string>> = {
  [UsageDimension.DAY]: "to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
  [UsageDimension.MODEL]: "model",
  [UsageDimension.SESSION]: "coalesce(session_id::text, '')",
  [UsageDimension.TOOL]: "tool.name",
  [UsageDimension.USER]: "principal",
  [UsageDimension.TEAM]: "team.name",
  [UsageDimension.TOKEN]: "coalesce(token_id, '')",
};
/** A call counts for each team of its person; for none, under an empty name. */
const TEAMS = "CROSS JOIN LATERAL unnest(CASE WHEN cardinality(teams) = 0 THEN ARRAY[''] ELSE teams END) AS team (name)";

const LAST_CALL = `
  SELECT model, prefix_hash, input_tokens + cache_read_tokens + cache_write_tokens AS input, at,
    cache_read_tokens + cache_write_tokens > 0 AS was_cached
  FROM model_call WHERE session_id = $1 AND prefix_hash IS NOT NULL ORDER BY call_id DESC LIMIT 1`;

const OF_CALLS = `sum(input_tokens) AS input, sum(output_tokens) AS output, sum(cache_read_tokens) AS cache_read,
  sum(cache_write_tokens) AS cache_write, sum(reasoning_tokens) AS reasoning, coalesce(sum(cost), 0) AS cost`;
/** A result is an estimated share of the input of the call that read it first. */
const OF_TOOLS = `sum(tool.tokens) AS input, 0 AS output, 0 AS cache_read, 0 AS cache_write, 0 AS reasoning,
  coalesce(sum(input_cost::numeric * least(tool.tokens, all_input) / nullif(all_input, 0))::bigint, 0) AS cost`;

interface Row extends Record<string, unknown> {
  readonly keys: readonly string[];
  readonly calls: string;
  readonly input: string;
  readonly output: string;
  readonly cache_read: string;
  readonly cache_write: string;
  readonly reasoning: string;
  readonly cost: string;
  readonly unpriced: string;
  readonly estimated: string;
}

/** Settled calls in PostgreSQL. */
export class PostgresUsageLog implements UsageLog {
  readonly #database: Queries;

  constructor(database: Queries) {
    this.#database = database;
  }

  async query({ organization, principal, by, since, until }: UsageQuestion): Promise<UsageRow[]> {
    const keys = by.map((dimension) => COLUMNS[dimension]!);
    const ofTools = by.includes(UsageDimension.TOOL);
    const tools = `CROSS JOIN LATERAL (SELECT key AS name, value::bigint AS tokens FROM jsonb_each_text(tool_tokens)) AS tool
      CROSS JOIN LATERAL (SELECT input_tokens + cache_read_tokens + cache_write_tokens AS all_input) AS whole`;
    const group = keys.length === 0 ? "HAVING count(*) > 0" : `GROUP BY ${keys.join(", ")}`;
    const rows = await this.#database.query<Row>(
      `SELECT ARRAY[${keys.join(", ")}]::text[] AS keys, count(*) AS calls, ${ofTools ? OF_TOOLS : OF_CALLS},
         count(*) FILTER (WHERE cost IS NULL) AS unpriced, count(*) FILTER (WHERE is_estimated) AS estimated
       FROM model_call ${ofTools ? tools : ""} ${by.includes(UsageDimension.TEAM) ? TEAMS : ""}
       WHERE organization = $1 AND ($2::text IS NULL OR principal = $2)
         AND ($3::timestamptz IS NULL OR at >= $3) AND ($4::timestamptz IS NULL OR at < $4)
       ${group} ORDER BY ${by[0] === UsageDimension.DAY ? "1" : "8"} ${by[0] === UsageDimension.DAY ? "" : "DESC, 1"} LIMIT ${MAXIMUM_ROWS}`,
      [organization, principal ?? null, since ?? null, until ?? null],
    );
    return rows.map(usageOf);
  }

  breaks(question: BreaksQuestion): Promise<CacheBreaks> {
    return queryBreaks(this.#database, question);
  }

  async lastCall(sessionId: string): Promise<EarlierCall | undefined> {
    type Row = { model: string; prefix_hash: string; input: string; at: Date; was_cached: boolean };
    const [row] = await this.#database.query<Row>(LAST_CALL, [sessionId], "last_call");
    if (row === undefined) return undefined;
    const { model, prefix_hash: prefixHash, input, at, was_cached: wasCached } = row;
    return { model, prefixHash, inputTokens: BigInt(input), wasCached, at };
  }
}

function usageOf(row: Row): UsageRow {
  return create(UsageRowSchema, {
    keys: [...row.keys],
    calls: BigInt(row.calls),
    usage: {
      inputTokens: BigInt(row.input),
      outputTokens: BigInt(row.output),
      cacheReadTokens: BigInt(row.cache_read),
      cacheWriteTokens: BigInt(row.cache_write),
      reasoningTokens: BigInt(row.reasoning),
    },
    cost: { nanoDollars: BigInt(row.cost), unpricedCalls: Number(row.unpriced) },
    estimatedCalls: BigInt(row.estimated),
  });
}
