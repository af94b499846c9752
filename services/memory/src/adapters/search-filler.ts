import type { Log } from "@hlvm/log/create-log";
import type { Database } from "@hlvm/postgres/database";
import type { SearchItem } from "../domain/search/search-item.ts";
import { TERMS_VERSION } from "../domain/search/terms.ts";
import { SEARCHED_FACT_COLUMNS, factSearchItem, type SearchedFactRow } from "./fact-search-item.ts";
import { PostgresSearchItems } from "./postgres-search-items.ts";
import { SEARCHED_TURN_COLUMNS, turnSearchItem, type SearchedTurnRow } from "./turn-search-item.ts";
import { SEARCHED_PAGE_COLUMNS, pageSearchItem, type SearchedPageRow } from "./wiki-row.ts";

const BATCH_ITEMS = 500;
/** So many are looked at in one statement: all of them are not within its deadline. */
const PAGE_ITEMS = 10_000;
const START = "00000000-0000-0000-0000-000000000000";
/** Within the page alone: joined with all items, every batch read those before it, and a million took the square of the time. */
const NOT_CUT = `NOT EXISTS (
  SELECT FROM search_item WHERE item_id = $id AND item_id > $1 AND item_id <= $2 AND terms_version >= ${TERMS_VERSION}
)`;

/** Cuts facts, turns and pages into terms that were written before there were any, or by a release that cut them otherwise. Begun twice it does no harm. */
export async function fillSearch(database: Database, log: Log): Promise<void> {
  // What ends meanwhile waits for the lock, and takes its terms with it.
  const facts = await fill(
    database,
    "SELECT fact_id AS id FROM fact WHERE fact_id > $1",
    `SELECT ${SEARCHED_FACT_COLUMNS}, fact_id AS id FROM fact WHERE valid_to IS NULL AND fact_id > $1 AND fact_id <= $2 AND ${NOT_CUT.replace("$id", "fact_id")}
     ORDER BY fact_id LIMIT ${BATCH_ITEMS} FOR SHARE`,
    (row: SearchedFactRow) => factSearchItem(row),
  );
  const turns = await fill(
    database,
    "SELECT turn_id AS id FROM transcript_turn WHERE turn_id > $1",
    `SELECT ${SEARCHED_TURN_COLUMNS}, turn_id AS id FROM transcript_turn JOIN transcript USING (transcript_id)
     WHERE turn_id > $1 AND turn_id <= $2 AND ${NOT_CUT.replace("$id", "turn_id")} ORDER BY turn_id LIMIT ${BATCH_ITEMS} FOR SHARE OF transcript_turn`,
    (row: SearchedTurnRow) => turnSearchItem(row),
  );
  const pages = await fill(
    database,
    "SELECT page_id AS id FROM wiki_page WHERE page_id > $1",
    `SELECT ${SEARCHED_PAGE_COLUMNS}, page_id AS id FROM wiki_page JOIN wiki_revision USING (page_id)
     WHERE number = present AND present > 0 AND page_id > $1 AND page_id <= $2 AND ${NOT_CUT.replace("$id", "page_id")}
     ORDER BY page_id LIMIT ${BATCH_ITEMS} FOR SHARE OF wiki_page`,
    (row: SearchedPageRow) => pageSearchItem(row),
  );
  if (facts + turns + pages > 0) log.info({ facts, turns, pages }, "what was there before can be found by its words");
}

/** @param all ids behind $1; @param sql of them, those up to $2 that are to be cut */
async function fill(database: Database, all: string, sql: string, itemOf: (row: never) => SearchItem): Promise<number> {
  const lastOfPage = `SELECT id FROM (${all} ORDER BY id LIMIT ${PAGE_ITEMS}) AS page ORDER BY id DESC LIMIT 1`;
  let filled = 0;
  for (let behind = START; ;) {
    const [last] = await database.query<{ id: string }>(lastOfPage, [behind]);
    if (last === undefined) return filled;
    filled += await fillPage(database, sql, [behind, last.id], itemOf);
    behind = last.id;
  }
}

async function fillPage(
  database: Database,
  sql: string,
  [first, last]: readonly [string, string],
  itemOf: (row: never) => SearchItem,
): Promise<number> {
  const items = new PostgresSearchItems();
  let filled = 0;
  for (let behind = first; ;) {
    const rows = await database.transaction(async (queries) => {
      const batch = await queries.query<{ id: string }>(sql, [behind, last]);
      await items.put(
        queries,
        batch.map((row) => itemOf(row as never)),
      );
      return batch;
    });
    if (rows.length === 0) return filled;
    filled += rows.length;
    behind = rows.at(-1)!.id;
  }
}
