import type { Database } from "@hlvm/postgres/database";
import { PostgresRetention } from "./postgres-retention.ts";

const BETWEEN_MILLISECONDS = 3_600_000;

/** Forgets the receipts of tool calls that nobody asks for any more, a call is sent again within its run, and what was kept long enough. */
export class ReceiptCleaner {
  readonly #database: Database;
  readonly #retention: PostgresRetention;
  #notBefore = 0;

  constructor(database: Database) {
    this.#database = database;
    this.#retention = new PostgresRetention(database);
  }

  /** To be called whenever there is nothing else to do; looks once an hour. */
  async forgetOld(): Promise<void> {
    if (performance.now() < this.#notBefore) return;
    this.#notBefore = performance.now() + BETWEEN_MILLISECONDS;
    await this.#database.query("DELETE FROM tool_receipt WHERE created_at < now() - interval '7 days'");
    await this.#retention.forgetExpired();
  }
}
