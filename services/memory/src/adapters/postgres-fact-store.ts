import type { Database } from "@hlvm/postgres/database";
import type { FactStore, ScopedFacts } from "../domain/fact-store.ts";
import type { Viewer } from "../domain/viewer.ts";
import { PostgresScopedFacts } from "./postgres-scoped-facts.ts";

/**
 * Facts in PostgreSQL. Whatever happens on a viewer's behalf happens in one transaction whose role sees nothing but that
 * viewer's scope: row-level security decides, not the statements.
 */
export class PostgresFactStore implements FactStore {
  readonly #database: Database;
  readonly #onOutbox: () => void;

  /** @param onOutbox called after a commit that left something for the index */
  constructor(database: Database, onOutbox: () => void) {
    this.#database = database;
    this.#onOutbox = onOutbox;
  }

  async inScope<T>(viewer: Viewer, work: (facts: ScopedFacts) => Promise<T>): Promise<T> {
    let isOutboxFed = false;
    const result = await this.#database.transaction(async (queries) => {
      await queries.query("SELECT enter_scope($1, $2, $3)", [viewer.organization, viewer.principal, viewer.project], "enter-scope");
      const facts = new PostgresScopedFacts(queries, viewer);
      const done = await work(facts);
      isOutboxFed = await facts.finish();
      return done;
    });
    if (isOutboxFed) this.#onOutbox();
    return result;
  }
}
