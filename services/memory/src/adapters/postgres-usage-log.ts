import type { Log } from "@hlvm/log/create-log";
import type { Database, Queries } from "@hlvm/postgres/database";
import { audiencesOf } from "../domain/audience.ts";
import type { FactOrigin } from "../domain/fact.ts";
import type {
  AnsweredRun,
  LoggedRecall,
  Period,
  RecallCount,
  RecallEntry,
  RecallKind,
  RecallPage,
  UsageLog,
  UsageStats,
} from "../domain/usage/usage-log.ts";
import type { Viewer } from "../domain/viewer.ts";
import { embeddingCounts } from "./embedding-counts.ts";
import { FACT_COLUMNS, factOf, type FactRow } from "./fact-row.ts";

/** Of one session, what is looked through: a session that asks more often is shown nothing new. */
const MAXIMUM_RECALLS = 1_000;
const MOST_USED = 10;
const AGES_IN_DAYS = [1, 7, 30, 90, 365] as const;

interface RecallRow extends Record<string, unknown> {
  recall_id: string;
  kind: RecallKind;
  session_id: string;
  run_id: string;
  query: string;
  shown: string[];
  milliseconds: number;
  recalled_at: Date;
  project: string;
  has_answer: boolean;
  used: string[];
  wrong: string[];
}

const RECALLS = `SELECT recall_id, kind, session_id, run_id, query, recall_log.shown, milliseconds, recalled_at, project,
    answered_at IS NOT NULL AS has_answer,
    ARRAY(SELECT unnest(recall_log.shown) INTERSECT SELECT unnest(used)) AS used,
    ARRAY(SELECT fact_id FROM recall_mark WHERE recall_mark.recall_id = recall_log.recall_id) AS wrong
  FROM recall_log LEFT JOIN answered_run USING (organization, owner, run_id)
  WHERE organization = $1 AND owner = $2`;

/** The log of recalls in PostgreSQL, under row-level security as facts are. */
export class PostgresUsageLog implements UsageLog {
  readonly #database: Database;
  readonly #log: Log;

  constructor(database: Database, log: Log) {
    this.#database = database;
    this.#log = log;
  }

  async recordRecall(viewer: Viewer, entry: RecallEntry): Promise<void> {
    const { kind, sessionId, runId, query, shown, milliseconds, project } = entry;
    // Whoever asked does not wait for the disk: a crash may cost the last second of this log.
    await this.#inScope(viewer, (queries) =>
      queries.query(
        `INSERT INTO recall_log (organization, owner, kind, session_id, run_id, query, shown, milliseconds, project)
         SELECT $1, $2, $3, $4, $5, $6, $7::uuid[], $8, $9 FROM set_config('synchronous_commit', 'off', true)`,
        [viewer.organization, viewer.principal, kind, sessionId, runId, query, shown, milliseconds, project],
        "recall-record",
      ),
    ).catch((err: unknown) => this.#log.warn({ err }, "a recall is not on record"));
  }

  async shownTo(viewer: Viewer, sessionId: string): Promise<{ factIds: readonly string[]; since: Date } | undefined> {
    const rows = await this.#inScope(viewer, (queries) =>
      queries.query<Pick<RecallRow, "shown" | "recalled_at">>(
        "SELECT shown, recalled_at FROM recall_log WHERE organization = $1 AND owner = $2 AND session_id = $3 ORDER BY recalled_at LIMIT $4",
        [viewer.organization, viewer.principal, sessionId, MAXIMUM_RECALLS],
        "recall-shown",
      ),
    );
    const [first] = rows;
    return first && { factIds: [...new Set(rows.flatMap(({ shown }) => shown))], since: first.recalled_at };
  }

  async shownSince(viewer: Viewer, since: Date): Promise<ReadonlySet<string>> {
    const rows = await this.#inScope(viewer, (queries) =>
      queries.query<{ fact_id: string }>(
        "SELECT DISTINCT unnest(shown) AS fact_id FROM recall_log WHERE organization = $1 AND owner = $2 AND recalled_at >= $3",
        [viewer.organization, viewer.principal, since],
        "recall-shown-since",
      ),
    );
    return new Set(rows.map(({ fact_id: id }) => id));
  }

  async recordAnswer(viewer: Viewer, { runId, shown, used, rederived }: AnsweredRun): Promise<AnsweredRun> {
    const key = [viewer.organization, viewer.principal, runId];
    const [row] = await this.#inScope(viewer, async (queries) => {
      await queries.query(
        `INSERT INTO answered_run (organization, owner, run_id, shown, used, rederived)
         VALUES ($1, $2, $3, $4::uuid[], $5::uuid[], $6::uuid[]) ON CONFLICT DO NOTHING`,
        [...key, shown, used, rederived],
        "answer-record",
      );
      const sql = "SELECT shown, used, rederived FROM answered_run WHERE organization = $1 AND owner = $2 AND run_id = $3";
      return queries.query<{ shown: string[]; used: string[]; rederived: string[] }>(sql, key, "answer-find");
    });
    return { runId, ...row! };
  }

  async recalls(viewer: Viewer, { limit, misses, before, beforeId, kind, words }: RecallPage): Promise<LoggedRecall[]> {
    const rows = await this.#inScope(viewer, (queries) =>
      queries.query<RecallRow>(
        `${RECALLS} AND recalled_at < $3 AND ($4 = false OR recall_log.shown = '{}') AND ($5::text IS NULL OR kind = $5)
           AND NOT EXISTS (SELECT FROM unnest($6::text[]) AS word WHERE position(lower(word) IN lower(query)) = 0)
           AND ($7::bigint = 0 OR (recalled_at, recall_id) < (SELECT recalled_at, recall_id FROM recall_log WHERE recall_id = $7))
         ORDER BY recalled_at DESC, recall_id DESC LIMIT $8`,
        [viewer.organization, viewer.principal, before ?? "infinity", misses, kind ?? null, words, beforeId, limit],
        "recall-list",
      ),
    );
    return rows.map(recallOf);
  }

  async recall(viewer: Viewer, recallId: bigint): Promise<LoggedRecall | undefined> {
    const [row] = await this.#inScope(viewer, (queries) =>
      queries.query<RecallRow>(`${RECALLS} AND recall_id = $3`, [viewer.organization, viewer.principal, recallId], "recall-find"),
    );
    return row && recallOf(row);
  }

  async mark(viewer: Viewer, recallId: bigint, factId: string, isWrong: boolean): Promise<void> {
    const marked = [viewer.organization, viewer.principal, recallId, factId];
    const OF_THE_VIEWER = "organization = $1 AND owner = $2 AND recall_id = $3";
    await this.#inScope(viewer, (queries) =>
      isWrong
        ? queries.query(
            `INSERT INTO recall_mark (organization, owner, recall_id, fact_id)
             SELECT organization, owner, recall_id, $4::uuid FROM recall_log WHERE ${OF_THE_VIEWER} AND $4::uuid = ANY(shown) ON CONFLICT DO NOTHING`,
            marked,
            "recall-mark",
          )
        : queries.query(`DELETE FROM recall_mark WHERE ${OF_THE_VIEWER} AND fact_id = $4`, marked, "recall-unmark"),
    );
  }

  async stats(viewer: Viewer, { since, until }: Period): Promise<UsageStats> {
    const person = [viewer.organization, viewer.principal, since, until];
    return this.#inScope(viewer, async (queries) => ({
      recalls: await recallCounts(queries, person),
      ...(await answerCounts(queries, person)),
      ...(await factCounts(queries, audiencesOf(viewer), person)),
      mostUsed: await mostUsed(queries, person),
      embeddings: await embeddingCounts(queries),
    }));
  }

  #inScope<T>(viewer: Viewer, work: (queries: Queries) => Promise<T>): Promise<T> {
    return this.#database.transaction(async (queries) => {
      await queries.query("SELECT enter_scope($1, $2, $3)", [viewer.organization, viewer.principal, viewer.project], "enter-scope");
      return work(queries);
    });
  }
}

function recallOf(row: RecallRow): LoggedRecall {
  const { recall_id: recallId, session_id: sessionId, run_id: runId, recalled_at: at, has_answer: hasAnswer } = row;
  const { kind, query, shown, milliseconds, project, used, wrong } = row;
  return { recallId: BigInt(recallId), kind, sessionId, runId, query, shown, milliseconds, at, project, hasAnswer, used, wrong };
}

const IN_PERIOD = "organization = $1 AND owner = $2";

async function recallCounts(queries: Queries, person: readonly unknown[]): Promise<RecallCount[]> {
  const rows = await queries.query<{
    kind: RecallKind;
    count: number;
    hits: number;
    shown: number;
    p50: number;
    p95: number;
    wrong: number;
  }>(
    `SELECT kind, count(*)::int AS count, count(*) FILTER (WHERE shown <> '{}')::int AS hits, sum(cardinality(shown))::int AS shown,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY milliseconds) AS p50, percentile_cont(0.95) WITHIN GROUP (ORDER BY milliseconds) AS p95,
       sum((SELECT count(*) FROM recall_mark WHERE recall_mark.recall_id = recall_log.recall_id))::int AS wrong
     FROM recall_log WHERE ${IN_PERIOD} AND recalled_at >= $3 AND recalled_at < $4 GROUP BY kind ORDER BY kind`,
    person,
    "recall-counts",
  );
  return rows.map(({ kind, count, hits, shown, p50, p95, wrong }) => {
    return { kind, count, hits, factsShown: shown, p50Milliseconds: p50, p95Milliseconds: p95, factsMarkedWrong: wrong };
  });
}

async function answerCounts(queries: Queries, person: readonly unknown[]) {
  const [row] = await queries.query<{ answers: number; with_facts: number; with_use: number; with_rederivation: number }>(
    `SELECT count(*)::int AS answers, count(*) FILTER (WHERE shown <> '{}')::int AS with_facts,
       count(*) FILTER (WHERE used <> '{}')::int AS with_use, count(*) FILTER (WHERE rederived <> '{}')::int AS with_rederivation
     FROM answered_run WHERE ${IN_PERIOD} AND answered_at >= $3 AND answered_at < $4`,
    person,
    "answer-counts",
  );
  return {
    answers: row!.answers,
    answersWithFacts: row!.with_facts,
    answersWithUse: row!.with_use,
    answersWithRederivation: row!.with_rederivation,
  };
}

/** Each audience is counted along its own index. */
async function factCounts(queries: Queries, audiences: readonly string[], [organization, owner]: readonly unknown[]) {
  const rows = await queries.query<{ origin: FactOrigin; age: number; count: number; never_shown: number }>(
    `WITH shown AS MATERIALIZED (SELECT DISTINCT unnest(shown) AS fact_id FROM recall_log WHERE organization = $3 AND owner = $4)
     SELECT origin, age, count(*)::int AS count, count(*) FILTER (WHERE NOT EXISTS (SELECT FROM shown WHERE shown.fact_id = fact.fact_id))::int AS never_shown
     FROM fact, LATERAL (SELECT coalesce(min(days), 0) AS age FROM unnest($2::int[]) AS days WHERE now() - valid_from <= make_interval(days => days)) AS aged
     WHERE audience = ANY($1) AND valid_to IS NULL GROUP BY origin, age`,
    [audiences, AGES_IN_DAYS, organization, owner],
    "fact-counts",
  );
  const countOf = (fits: (row: (typeof rows)[number]) => boolean): number => rows.filter(fits).reduce((sum, { count }) => sum + count, 0);
  const origins = [...new Set(rows.map(({ origin }) => origin))].sort();
  return {
    factsByOrigin: origins.map((origin) => ({ origin, count: countOf((row) => row.origin === origin) })),
    factsByAge: [...AGES_IN_DAYS, 0].map((days) => ({ days, count: countOf((row) => row.age === days) })),
    factsNeverShown: rows.reduce((sum, row) => sum + row.never_shown, 0),
  };
}

async function mostUsed(queries: Queries, person: readonly unknown[]) {
  const rows = await queries.query<FactRow & { times_shown: number; times_used: number }>(
    `WITH run AS (SELECT shown, used FROM answered_run WHERE ${IN_PERIOD} AND answered_at >= $3 AND answered_at < $4),
       served AS (SELECT fact_id, count(*)::int AS times_used FROM run, unnest(used) AS fact_id GROUP BY fact_id)
     SELECT ${FACT_COLUMNS}, times_used, (SELECT count(*)::int FROM run WHERE served.fact_id = ANY(run.shown)) AS times_shown
     FROM served JOIN fact USING (fact_id) ORDER BY times_used DESC, fact_id LIMIT $5`,
    [...person, MOST_USED],
    "fact-most-used",
  );
  return rows.map((row) => ({ fact: factOf(row), shown: row.times_shown, used: row.times_used }));
}
