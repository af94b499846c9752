import type { Database } from "@hlvm/postgres/database";
import type { Retention, RetentionScope, RetentionStore } from "../domain/privacy/retention.ts";

const BATCH_FACTS = 500;

interface RetentionRow extends Record<string, unknown> {
  scope: RetentionScope;
  days: number;
  changed_by: string;
  changed_at: Date;
}

/** How long each organization keeps what has ended, and its end. */
export class PostgresRetention implements RetentionStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async list(organization: string): Promise<readonly Retention[]> {
    const rows = await this.#database.query<RetentionRow>(
      "SELECT scope, days, changed_by, changed_at FROM retention WHERE organization = $1 ORDER BY scope",
      [organization],
    );
    return rows.map(({ scope, days, changed_by: changedBy, changed_at: changedAt }) => ({ scope, days, changedBy, changedAt }));
  }

  async set(organization: string, scope: RetentionScope, days: number, changedBy: string): Promise<void> {
    if (days === 0) await this.#database.query("DELETE FROM retention WHERE organization = $1 AND scope = $2", [organization, scope]);
    else
      await this.#database.query(
        `INSERT INTO retention (organization, scope, days, changed_by) VALUES ($1, $2, $3, $4)
         ON CONFLICT (organization, scope) DO UPDATE SET days = $3, changed_by = $4, changed_at = now()`,
        [organization, scope, days, changedBy],
      );
  }

  /** Lets go of what has been kept for as long as its organization said. */
  async forgetExpired(): Promise<void> {
    while (await this.#forgetFacts()) continue;
    await this.#database.query(
      `DELETE FROM recall_log WHERE recalled_at < now() - make_interval(days => coalesce(
         (SELECT days FROM retention WHERE retention.organization = recall_log.organization AND scope = 'log'), 90))`,
    );
    await this.#database.query(
      `DELETE FROM answered_run WHERE answered_at < now() - make_interval(days => coalesce(
         (SELECT days FROM retention WHERE retention.organization = answered_run.organization AND scope = 'log'), 400))`,
    );
  }

  /** Some of those that ended long ago. Several gateways may do so at once. @returns whether there may be more */
  async #forgetFacts(): Promise<boolean> {
    return this.#database.transaction(async (queries) => {
      const [row] = await queries.query<{ ids: string[] }>(
        `SELECT coalesce(array_agg(fact_id), '{}') AS ids FROM (
           SELECT fact_id FROM fact JOIN retention USING (organization, scope)
           WHERE valid_to < now() - make_interval(days => days) AND proposal IS DISTINCT FROM 'waiting'
           LIMIT $1 FOR UPDATE OF fact SKIP LOCKED) AS expired`,
        [BATCH_FACTS],
      );
      await queries.query("SELECT forget_facts($1::uuid[])", [row!.ids]);
      return row!.ids.length === BATCH_FACTS;
    });
  }
}
