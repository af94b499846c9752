import type { Log } from "@hlvm/log/create-log";
import type { Database, Queries } from "@hlvm/postgres/database";
import { ENTITIES_VERSION } from "../domain/entities/item-mentions.ts";
import { SEARCHED_FACT_COLUMNS, type SearchedFactRow } from "./fact-search-item.ts";
import { PostgresEntityMentions } from "./postgres-entity-mentions.ts";
import { SEARCHED_TURN_COLUMNS, type SearchedTurnRow } from "./turn-search-item.ts";

const BATCH_ITEMS = 500;
const START = "00000000-0000-0000-0000-000000000000";

/** Finds entities in facts and turns that were written before there were any, or by a release that found others. Begun twice it does no harm. */
export async function fillEntities(database: Database, log: Log): Promise<void> {
  const mentions = new PostgresEntityMentions();
  const facts = await fill(
    database,
    { table: "fact", id: "fact_id" },
    `SELECT ${SEARCHED_FACT_COLUMNS.replace("said_at", "coalesce(said_at, valid_from) AS said_at")}, fact_id AS id FROM fact
     WHERE entities_version < ${ENTITIES_VERSION} AND fact_id > $1 ORDER BY fact_id LIMIT ${BATCH_ITEMS} FOR UPDATE`,
    (queries, rows) => mentions.putFacts(queries, rows as SearchedFactRow[]),
  );
  // Who has one locked is importing it anew, with its entities, in an order of their own.
  const turns = await fill(
    database,
    { table: "transcript_turn", id: "turn_id" },
    `SELECT ${SEARCHED_TURN_COLUMNS}, turn_id AS id FROM transcript_turn JOIN transcript USING (transcript_id)
     WHERE entities_version < ${ENTITIES_VERSION} AND turn_id > $1 ORDER BY turn_id LIMIT ${BATCH_ITEMS} FOR UPDATE OF transcript_turn SKIP LOCKED`,
    (queries, rows) => mentions.putTurns(queries, rows as SearchedTurnRow[]),
  );
  if (facts + turns > 0) log.info({ facts, turns }, "what was there before has its entities");
}

async function fill(
  database: Database,
  { table, id }: { readonly table: string; readonly id: string },
  sql: string,
  put: (queries: Queries, rows: readonly Record<string, unknown>[]) => Promise<void>,
): Promise<number> {
  let filled = 0;
  for (let behind = START; ;) {
    const rows = await database.transaction(async (queries) => {
      const batch = await queries.query<{ id: string }>(sql, [behind]);
      await put(queries, batch);
      const ids = batch.map((row) => row.id);
      await queries.query(`UPDATE ${table} SET entities_version = ${ENTITIES_VERSION} WHERE ${id} = ANY($1::uuid[])`, [ids]);
      return batch;
    });
    if (rows.length === 0) return filled;
    filled += rows.length;
    behind = rows.at(-1)!.id;
  }
}
