import type { Queries } from "@hlvm/postgres/database";
import type { EntityMention } from "../domain/entities/entity.ts";
import { factMentions, turnMentions } from "../domain/entities/item-mentions.ts";
import type { SearchedFactRow } from "./fact-search-item.ts";
import type { SearchedTurnRow } from "./turn-search-item.ts";

type ItemRow = Pick<SearchedFactRow, "organization" | "owner" | "said_at">;

/** What items speak of; written in the transaction that writes the items. */
export class PostgresEntityMentions {
  /** What was found in these facts by how it is written is replaced; what a model found in them stays. */
  async putFacts(transaction: Queries, rows: readonly SearchedFactRow[]): Promise<void> {
    const mentions = rows.flatMap((row) => {
      const { fact_id: itemId, scope, project } = row;
      return rowsOf(row, { item_id: itemId, item_kind: "fact", scope, project }, factMentions(row));
    });
    await put(transaction, itemIds(rows, "fact_id"), mentions);
  }

  /** The same of turns; a text that changed has left what a model found in it. */
  async putTurns(transaction: Queries, rows: readonly SearchedTurnRow[]): Promise<void> {
    const mentions = rows.flatMap((row) =>
      rowsOf(row, { item_id: row.turn_id, item_kind: "turn", scope: "personal", project: "" }, turnMentions(row)),
    );
    await put(transaction, itemIds(rows, "turn_id"), mentions);
  }
}

function itemIds<Key extends string>(rows: readonly Readonly<Record<Key, string>>[], key: Key): string[] {
  return rows.map((row) => row[key]);
}

function rowsOf({ organization, owner, said_at }: ItemRow, item: object, mentions: readonly EntityMention[]) {
  return mentions.map((mention) => ({ ...item, ...mention, organization, owner, said_at }));
}

async function put(transaction: Queries, items: readonly string[], mentions: readonly object[]): Promise<void> {
  if (items.length === 0) return;
  await transaction.query("DELETE FROM entity_mention WHERE item_id = ANY($1::uuid[]) AND found_by = ''", [items], "entity-remove");
  if (mentions.length === 0) return;
  await transaction.query(
    `INSERT INTO entity_mention (item_id, item_kind, organization, owner, project, scope, kind, key, name, role, mentioned_at)
     SELECT item_id, item_kind, organization, owner, project, scope, kind, key, name, role, coalesce(said_at, now())
     FROM jsonb_to_recordset($1::jsonb) AS mention (item_id uuid, item_kind text, organization text, owner text, project text, scope text,
       kind text, key text, name text, role text, said_at timestamptz)
     ORDER BY item_id, kind, key ON CONFLICT DO NOTHING`,
    [JSON.stringify(mentions)],
    "entity-put",
  );
}
