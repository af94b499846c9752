import pLimit from "p-limit";
import pg from "pg";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Log } from "@hlvm/log/create-log";
import { databaseError } from "./database-error.ts";

export type Row = Record<string, unknown>;
/** What statements run on: the pool, or one transaction. */
export interface Queries {
  /** Rows in the order of the statement. Name a statement that runs often: it is then parsed once a connection. */
  query<T extends Row>(sql: string, values?: readonly unknown[], name?: string): Promise<T[]>;
}

const MAXIMUM_CONNECTIONS = 10;
const CONNECT_DEADLINE_MILLISECONDS = 5_000;
const STATEMENT_DEADLINE_MILLISECONDS = 15_000;
/** The pool's own limit for that is the one for connecting, and a crowd that waits longer is no broken connection. */
const WAIT_DEADLINE_MILLISECONDS = 15_000;

/** A service's own database. What keeps it from serving becomes an HlvmError, as `databaseError` has it. */
export class Database implements Queries {
  readonly #pool: pg.Pool;
  readonly #atOnce = pLimit(MAXIMUM_CONNECTIONS);
  readonly url: string;

  constructor(url: string, log: Log) {
    this.url = url;
    this.#pool = new pg.Pool({
      connectionString: url,
      max: MAXIMUM_CONNECTIONS,
      connectionTimeoutMillis: CONNECT_DEADLINE_MILLISECONDS,
      statement_timeout: STATEMENT_DEADLINE_MILLISECONDS,
      query_timeout: STATEMENT_DEADLINE_MILLISECONDS + 1_000,
    });
    this.#pool.on("error", (cause) => log.warn({ err: cause }, "an idle database connection broke"));
  }

  async query<T extends Row>(sql: string, values: readonly unknown[] = [], name?: string): Promise<T[]> {
    return this.#inTurn(() => run<T>(this.#pool, sql, values, name));
  }

  /** Commits when `work` returns, rolls back when it throws. */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    return this.#inTurn(() => this.#transaction(work));
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  #inTurn<T>(use: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + WAIT_DEADLINE_MILLISECONDS;
    return this.#atOnce(() => {
      if (performance.now() > deadline) throw overloaded();
      return use();
    });
  }

  async #transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect().catch((cause: unknown) => {
      throw databaseError(cause);
    });
    let broken: Error | undefined;
    client.on("error", (cause) => (broken = cause));
    try {
      await run(client, "BEGIN", []);
      const result = await work({ query: (sql, values = [], name) => run(client, sql, values, name) });
      await run(client, "COMMIT", []);
      return result;
    } catch (cause) {
      await client.query("ROLLBACK").catch((rollback: Error) => (broken = rollback));
      throw cause;
    } finally {
      client.removeAllListeners("error");
      client.release(broken);
    }
  }
}

function overloaded(): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "database_overloaded",
    message: `A statement waited for ${WAIT_DEADLINE_MILLISECONDS / 1_000} s, and all ${MAXIMUM_CONNECTIONS} connections to PostgreSQL were still at work. It was not sent.`,
    advice: "Try again in a moment. Where it stays so, the machine has too much to do, or PostgreSQL is stuck: its log says why.",
  });
}

async function run<T extends Row>(target: pg.Pool | pg.PoolClient, text: string, values: readonly unknown[], name?: string): Promise<T[]> {
  try {
    return (await target.query<T>({ text, values: [...values], name })).rows;
  } catch (cause) {
    throw databaseError(cause);
  }
}
