import { WEIGHTS } from "../domain/search/weights.ts";

const near = WEIGHTS.neighbours
  .flatMap((share, at) => [`(${at + 1}, ${share}::float8)`, `(${-at - 1}, ${share * WEIGHTS.behind}::float8)`])
  .join(", ");
/** A session is a long text, however short its turns are. */
const { saturation, normalization } = WEIGHTS.long;
const provenance = Object.entries(WEIGHTS.provenance).map(([origin, factor]) => `WHEN '${origin}' THEN ${factor}::float8`);

/**
 * Scores items in one statement: $1 corpora, $2 and $3 terms and their weights, $4 and $5 BM25's saturation and normalization, $6 the
 * average length, $7 terms of actors, $8 and $9 those of dates and their weights, $10 how many.
 * The terms are named once more where they are joined: planned without statistics, whole corpora were read.
 * @param among of which items, with what it needs as $11: all that hold a term, those that hold one of some terms, or these
 */
export function scoreItems(among: "all" | "finders" | "items"): string {
  const narrowed = {
    all: "",
    finders: "AND posting.item_id IN (SELECT item_id FROM posting WHERE corpus_id = ANY($1::integer[]) AND term = ANY($11::text[]))",
    items: "AND posting.item_id = ANY($11::uuid[])",
  }[among];
  return `WITH asked AS (SELECT term COLLATE "C" AS term, weight FROM unnest($2::text[], $3::float8[]) AS asked (term, weight)),
  hit AS MATERIALIZED (
    SELECT item_id, container_id, ordinal, asked.term, count,
      weight * count * ($4::float8 + 1) / (count + $4::float8 * (1 - $5::float8 + $5::float8 * length / $6::float8)) AS part
    FROM asked JOIN posting ON posting.term = asked.term AND posting.corpus_id = ANY($1::integer[]) AND posting.term = ANY($2::text[])
      ${narrowed}
  ), own AS MATERIALIZED (
    SELECT item_id, container_id, ordinal, sum(part) AS bm25 FROM hit GROUP BY item_id, container_id, ordinal
  ), session_count AS (
    SELECT count(*)::float8 AS sessions, greatest(avg(length), 1)::float8 AS average FROM search_container
    WHERE corpus_id = ANY($1::integer[]) AND items > 0 AND EXISTS (SELECT FROM own WHERE own.container_id <> 0)
  ), session_term AS (
    SELECT container_id, sum(count)::float8 AS count, (count(*) OVER (PARTITION BY term))::float8 AS holders
    FROM hit WHERE container_id <> 0 GROUP BY container_id, term
  ), session AS (
    SELECT container_id, ${WEIGHTS.container} * sum(ln(1 + (greatest(sessions, holders) - holders + 0.5) / (holders + 0.5))
      * count * ${saturation + 1} / (count + ${saturation}::float8 * (${1 - normalization} + ${normalization}::float8 * length / average))) AS bm25
    FROM session_term JOIN search_container USING (container_id), session_count GROUP BY container_id
  ), near AS (
    SELECT container_id, ordinal + distance AS ordinal, sum(bm25 * share) AS bm25
    FROM own, (VALUES ${near}) AS beside (distance, share) WHERE container_id <> 0 AND ordinal IS NOT NULL GROUP BY 1, 2
  ), placed AS (
    SELECT item_id, own.bm25, coalesce(near.bm25, 0) AS neighbours FROM own LEFT JOIN near USING (container_id, ordinal)
    UNION ALL
    SELECT item.item_id, 0, near.bm25 FROM near JOIN search_item AS item USING (container_id, ordinal)
      LEFT JOIN own ON own.item_id = item.item_id WHERE own.item_id IS NULL AND item.container_id <> 0
  ), spoken AS (
    SELECT item_id, ${WEIGHTS.actor}::float8 AS actor FROM posting
    WHERE corpus_id = ANY($1::integer[]) AND term = ANY($7::text[]) GROUP BY item_id
  ), dated AS (
    SELECT item_id, ${WEIGHTS.date} * sum(weight) AS date FROM unnest($8::text[], $9::float8[]) AS asked (term, weight)
      JOIN posting ON posting.term = asked.term COLLATE "C" AND corpus_id = ANY($1::integer[])
      AND posting.term = ANY($8::text[]) GROUP BY item_id
  ), parts AS (
    SELECT item_id, placed.bm25, neighbours, coalesce(session.bm25, 0) AS container, coalesce(spoken.actor, 0) AS actor, coalesce(date, 0) AS date,
      CASE origin ${provenance.join(" ")} ELSE 1 END AS provenance,
      1 + ${WEIGHTS.freshness} / (1 + greatest(0, extract(epoch FROM now() - added_at)::float8) / 86400 / ${WEIGHTS.freshnessDays}) AS tie_break
    FROM placed JOIN search_item USING (item_id) LEFT JOIN session USING (container_id)
      LEFT JOIN spoken USING (item_id) LEFT JOIN dated USING (item_id)
  ), best AS (
    SELECT *, (bm25 + neighbours + container + actor + date) * provenance * tie_break AS score FROM parts
    ORDER BY score DESC, item_id LIMIT $10
  ), held AS (
    SELECT item_id, jsonb_object_agg(term, part) AS terms FROM hit WHERE item_id IN (SELECT item_id FROM best) GROUP BY item_id
  )
  SELECT best.*, coalesce(terms, '{}') AS terms FROM best LEFT JOIN held USING (item_id) ORDER BY score DESC, item_id`;
}
