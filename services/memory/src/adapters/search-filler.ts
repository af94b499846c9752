import type { Log } from "@hlvm/log/create-log";
import type { Database } from "@hlvm/postgres/database";
import { TERMS_VERSION } from "../domain/search/terms.ts";
import { SEARCHED_FACT_COLUMNS, factSearchItem, type SearchedFactRow } from "./fact-search-item.ts";
import { PostgresSearchItems } from "./postgres-search-items.ts";

const BATCH_FACTS = 500;
const START = "00000000-0000-0000-0000-000000000000";

/** Cuts facts into terms that were written before there were any, or by a release that cut them otherwise. Begun twice it does no harm. */
export async function fillSearch(database: Database, log: Log): Promise<void> {
  const items = new PostgresSearchItems();
  let filled = 0;
  for (let behind = START; ;) {
    const rows = await database.transaction(async (queries) => {
      // A fact that ends meanwhile waits for the lock, and takes its terms with it.
      const facts = await queries.query<SearchedFactRow>(
        `SELECT ${SEARCHED_FACT_COLUMNS} FROM fact WHERE valid_to IS NULL AND fact_id > $1
           AND NOT EXISTS (SELECT FROM search_item WHERE item_id = fact_id AND terms_version >= ${TERMS_VERSION})
         ORDER BY fact_id LIMIT ${BATCH_FACTS} FOR SHARE`,
        [behind],
        "search-fill",
      );
      await items.put(queries, facts.map(factSearchItem));
      return facts;
    });
    if (rows.length === 0) break;
    filled += rows.length;
    behind = rows.at(-1)!.fact_id;
  }
  if (filled > 0) log.info({ facts: filled }, "facts that were there before can be found by their words");
}
