import type { Queries } from "@hlvm/postgres/database";
import { actorTerms, saidAtTerms } from "../domain/search/field-terms.ts";
import type { SearchItem } from "../domain/search/search-item.ts";
import { TERMS_VERSION, termsOf } from "../domain/search/terms.ts";

const MAXIMUM_COUNT = 32_767;
const COLUMNS =
  "item_id, kind, audience, organization, owner, project, scope, container, ordinal, actor, said_at, origin, length, terms, counts";

/** What can be found by its words; written in the transaction that writes the truth, so that it is found at once. */
export class PostgresSearchItems {
  /** What was there before under these ids is replaced. */
  async put(transaction: Queries, items: readonly SearchItem[]): Promise<void> {
    if (items.length === 0) return;
    const updates = COLUMNS.split(", ").map((column) => `${column} = excluded.${column}`);
    await transaction.query(
      `INSERT INTO search_item (${COLUMNS}, terms_version)
       SELECT ${COLUMNS}, ${TERMS_VERSION} FROM jsonb_to_recordset($1::jsonb) AS item (item_id uuid, kind text, audience text, organization text,
         owner text, project text, scope text, container text, ordinal integer, actor text, said_at timestamptz, origin text, length integer,
         terms text[], counts smallint[])
       ON CONFLICT (item_id) DO UPDATE SET ${updates.join(", ")}, terms_version = excluded.terms_version`,
      [JSON.stringify(items.map(rowOf))],
      "search-put",
    );
  }

  async remove(transaction: Queries, itemIds: readonly string[]): Promise<void> {
    await transaction.query("DELETE FROM search_item WHERE item_id = ANY($1::uuid[])", [itemIds], "search-remove");
  }
}

function rowOf(item: SearchItem) {
  const words = termsOf(item.text);
  const counts = new Map<string, number>();
  for (const term of words) counts.set(term, Math.min(MAXIMUM_COUNT, (counts.get(term) ?? 0) + 1));
  for (const term of actorTerms(item.actor)) counts.set(term, 1);
  for (const term of item.saidAt === null ? [] : saidAtTerms(item.saidAt)) counts.set(term, 1);
  const { itemId, kind, audience, organization, owner, project, scope, container, ordinal, actor, saidAt, origin } = item;
  return {
    item_id: itemId,
    kind,
    audience,
    organization,
    owner,
    project,
    scope,
    container,
    ordinal,
    actor,
    origin,
    said_at: saidAt,
    length: words.length,
    terms: [...counts.keys()],
    counts: [...counts.values()],
  };
}
