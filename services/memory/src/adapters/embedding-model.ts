import type { Database } from "@hlvm/postgres/database";

const PAGE_ITEMS = 10_000;
const START = "00000000-0000-0000-0000-000000000000";

/**
 * From now on texts are given vectors of this model; those of another one go, since they cannot be compared.
 * @param name undefined: of none
 */
export async function chooseEmbeddingModel(database: Database, name: string | undefined): Promise<void> {
  await database.transaction(async (queries) => {
    await queries.query("LOCK TABLE embedding_model IN EXCLUSIVE MODE");
    const [chosen] = await queries.query<{ name: string }>("SELECT name FROM embedding_model");
    if (chosen?.name === name) return;
    await queries.query("TRUNCATE item_embedding");
    await queries.query("DELETE FROM embedding_model");
    if (name !== undefined) await queries.query("INSERT INTO embedding_model (name) VALUES ($1)", [name]);
  });
}

/** Has what was written before a model was chosen wait for its vectors. Begun twice it does no harm. */
export async function awaitEmbeddings(database: Database, signal: AbortSignal): Promise<void> {
  for (let behind: string | undefined = START; behind !== undefined && !signal.aborted;) {
    const [last]: { item_id: string }[] = await database.query(
      `WITH page AS MATERIALIZED (
         SELECT item_id, corpus_id FROM search_item WHERE item_id > $1 ORDER BY item_id LIMIT ${PAGE_ITEMS} FOR SHARE
       ), waiting AS (
         INSERT INTO item_embedding (item_id, corpus_id) SELECT item_id, corpus_id FROM page
         WHERE EXISTS (SELECT FROM embedding_model) ON CONFLICT (item_id) DO NOTHING
       )
       SELECT item_id FROM page ORDER BY item_id DESC LIMIT 1`,
      [behind],
    );
    behind = last?.item_id;
  }
}
