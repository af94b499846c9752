import type { Queries } from "@hlvm/postgres/database";
import type { AllowedWork, MemoryWorkStore, NextPerson, Person } from "../../domain/memory-work/memory-work-store.ts";

interface AllowedRow extends Record<string, unknown> {
  readonly until: Date;
  readonly stored: string;
  readonly refused: string;
  readonly paused_reason: string;
  readonly next_at: Date;
}

/** In PostgreSQL, for all replicas. */
export class PostgresMemoryWork implements MemoryWorkStore {
  readonly #database: Queries;
  readonly #replica: string;

  constructor(database: Queries, replica: string) {
    this.#database = database;
    this.#replica = replica;
  }

  async allow({ organization, id }: Person, { delegation, until }: { delegation: string; until: Date }, onlyRenew: boolean): Promise<void> {
    const values = [organization, id, delegation, until];
    const renewed = "delegation = $3, until = $4, next_at = now(), paused_reason = ''";
    const sql = onlyRenew
      ? `UPDATE memory_work SET ${renewed} WHERE organization = $1 AND principal = $2`
      : `INSERT INTO memory_work (organization, principal, delegation, until) VALUES ($1, $2, $3, $4)
         ON CONFLICT (organization, principal) DO UPDATE SET ${renewed}`;
    await this.#database.query(sql, values, onlyRenew ? "memory-work-renew" : "memory-work-allow");
  }

  async end({ organization, id }: Person): Promise<void> {
    await this.#database.query("DELETE FROM memory_work WHERE organization = $1 AND principal = $2", [organization, id], "memory-work-end");
  }

  async get({ organization, id }: Person): Promise<AllowedWork | undefined> {
    const [row] = await this.#database.query<AllowedRow>(
      "SELECT until, stored, refused, paused_reason, next_at FROM memory_work WHERE organization = $1 AND principal = $2",
      [organization, id],
      "memory-work-get",
    );
    if (row === undefined) return undefined;
    const { until, stored, refused, paused_reason: pausedReason, next_at: pausedUntil } = row;
    return { until, stored: BigInt(stored), refused: BigInt(refused), pausedReason, pausedUntil };
  }

  async take(callsPerMinute: number, seconds: number): Promise<boolean> {
    const taken = await this.#database.query(
      `UPDATE memory_work_turn SET replica = $1, until = now() + make_interval(secs => $3)
       WHERE (until < now() OR replica = $1) AND (minute < date_trunc('minute', now()) OR calls < $2) RETURNING true`,
      [this.#replica, callsPerMinute, seconds],
      "memory-work-take",
    );
    return taken.length > 0;
  }

  async giveBack(): Promise<void> {
    await this.#database.query(
      "UPDATE memory_work_turn SET until = '-infinity' WHERE replica = $1",
      [this.#replica],
      "memory-work-give-back",
    );
  }

  async countCall(): Promise<void> {
    await this.#database.query(
      `UPDATE memory_work_turn SET calls = CASE WHEN minute = date_trunc('minute', now()) THEN calls + 1 ELSE 1 END,
         minute = date_trunc('minute', now())`,
      [],
      "memory-work-count-call",
    );
  }

  async next(): Promise<NextPerson | undefined> {
    const [row] = await this.#database.query<{ organization: string; principal: string; delegation: string }>(
      `UPDATE memory_work SET asked_at = clock_timestamp() WHERE (organization, principal) = (
         SELECT organization, principal FROM memory_work WHERE until > now() AND next_at <= now() ORDER BY asked_at LIMIT 1 FOR UPDATE SKIP LOCKED
       ) RETURNING organization, principal, delegation`,
      [],
      "memory-work-next",
    );
    return row && { person: { organization: row.organization, id: row.principal }, delegation: row.delegation };
  }

  async countAnswer({ organization, id }: Person, what: "stored" | "refused"): Promise<void> {
    await this.#database.query(
      `UPDATE memory_work SET ${what} = ${what} + 1, paused_reason = '' WHERE organization = $1 AND principal = $2`,
      [organization, id],
      `memory-work-${what}`,
    );
  }

  async pause({ organization, id }: Person, reason: string, seconds: number): Promise<void> {
    await this.#database.query(
      `UPDATE memory_work SET paused_reason = $3, next_at = now() + make_interval(secs => $4) WHERE organization = $1 AND principal = $2`,
      [organization, id, reason, seconds],
      "memory-work-pause",
    );
  }
}
