import type { Queries } from "@hlvm/postgres/database";
import type { EmbeddingCounts } from "../domain/usage/usage-log.ts";

/** Of what the viewer sees; undefined where no model makes vectors. */
export async function embeddingCounts(queries: Queries): Promise<EmbeddingCounts | undefined> {
  const [row] = await queries.query<{ model: string; made: number; waiting: number; refused: number }>(
    `SELECT name AS model, made, waiting, refused FROM embedding_model, (
       SELECT count(signs)::int AS made, count(due_at)::int AS waiting, count(*) FILTER (WHERE due_at IS NULL AND signs IS NULL)::int AS refused
       FROM item_embedding
     ) AS counted`,
    [],
    "embedding-counts",
  );
  return row;
}
