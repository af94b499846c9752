import { WEIGHTS } from "../domain/search/weights.ts";

const near = WEIGHTS.neighbours
  .flatMap((share, at) => [`(${at + 1}, ${share}::float8)`, `(${-at - 1}, ${share * WEIGHTS.behind}::float8)`])
  .join(", ");
/** A session is a long text, however short its turns are. */
const { saturation, normalization } = WEIGHTS.long;
/** Texts whose words speak for what stands beside them: what a worse one says of its neighbours brings nothing among the best. */
const SPEAKERS = 100;
/** Texts that are looked at closely, for the few that are shown. */
const CHOSEN = 200;
/** Sessions that are counted: of more, how rare a word is among them is known well enough. */
const SESSIONS = 10_000;
const provenance = Object.entries(WEIGHTS.provenance).map(([origin, factor]) => `WHEN '${origin}' THEN ${factor}::float8`);

/** Of what is near, as many as are looked at closely besides: those that stand out are found, and the others tell how usual it is to be near. */
const NEAREST = 50;
/** In standard deviations, of all that is there. */
const STANDS_OUT = 1.2;
/** Rows that come where meanings are compared: those are weighed outside. */
export const COMPARED = CHOSEN + NEAREST;

export interface Scored {
  /** All that hold a term, or these ($12). */
  readonly among: "all" | "items";
  /** Not, those that the words chose, or besides what is nearest of all: $12 (or $13) is the model, and behind it the question's signs. */
  readonly meanings: "none" | "chosen" | "all";
}

/**
 * Scores items in one statement: $1 corpora, $2 and $3 forms of terms and their weights, $4 and $5 BM25's saturation and normalization, $6 the
 * average length, $7 terms of actors, $8 and $9 those of dates and their weights, $10 how many, $11 the terms that
 * the forms are of.
 * It must not depend on what the planner knows of the tables, which right after an import is nothing: every look into an index is written
 * as one (LATERAL, OFFSET 0), and what has many rows on both sides is summed up rather than joined.
 */
export function scoreItems({ among, meanings }: Scored): string {
  const narrowed = { all: "", items: "AND item_id = ANY($12::uuid[])" }[among];
  const [model, signs] = { all: ["$12", "$13"], items: ["$13", "$14"] }[among] as [string, string];
  return `WITH hit AS MATERIALIZED (
    -- A term's forms are one word.
    SELECT item_id, container_id, ordinal, asked.term, sum(count)::float8 AS count,
      weight * sum(count) * ($4::float8 + 1) / (sum(count) + $4::float8 * (1 - $5::float8 + $5::float8 * length / $6::float8)) AS part
    FROM unnest($2::text[], $3::float8[], $11::text[]) AS asked (form, weight, term), LATERAL (
      SELECT item_id, container_id, ordinal, count, length FROM posting
      WHERE corpus_id = ANY($1::integer[]) AND posting.term = asked.form COLLATE "C" ${narrowed} OFFSET 0
    ) AS held GROUP BY item_id, container_id, ordinal, length, asked.term, weight
  ), own AS MATERIALIZED (
    SELECT item_id, container_id, ordinal, sum(part) AS bm25 FROM hit GROUP BY item_id, container_id, ordinal
  ), session_count AS MATERIALIZED (
    SELECT count(*)::float8 AS sessions, greatest(avg(length), 1)::float8 AS average FROM (
      SELECT length FROM search_container WHERE corpus_id = ANY($1::integer[]) AND items > 0
        AND EXISTS (SELECT FROM own WHERE own.container_id <> 0) LIMIT ${SESSIONS}
    ) AS counted
  ), session_term AS (
    SELECT container_id, sum(count)::float8 AS count, (count(*) OVER (PARTITION BY term))::float8 AS holders
    FROM hit WHERE container_id <> 0 GROUP BY container_id, term
  ), session AS MATERIALIZED (
    SELECT container_id, ${WEIGHTS.container} * sum(ln(1 + (greatest(sessions, holders) - holders + 0.5) / (holders + 0.5))
      * count * ${saturation + 1} / (count + ${saturation}::float8 * (${1 - normalization} + ${normalization}::float8 * length / average))) AS bm25
    FROM session_count, session_term, LATERAL (
      SELECT length FROM search_container WHERE search_container.container_id = session_term.container_id OFFSET 0
    ) AS whole GROUP BY container_id
  ), near AS MATERIALIZED (
    SELECT container_id, ordinal + distance AS ordinal, sum(bm25 * share) AS bm25
    FROM (
      SELECT * FROM own WHERE container_id <> 0 AND ordinal IS NOT NULL ORDER BY bm25 DESC, item_id LIMIT ${SPEAKERS}
    ) AS speaking, (VALUES ${near}) AS beside (distance, share) GROUP BY 1, 2
  ), ${meanings === "all" ? nearest(model, signs) : ""} placed AS MATERIALIZED (
    SELECT item_id, max(container_id) AS container_id, sum(bm25) AS bm25, sum(neighbours) AS neighbours FROM (
      SELECT item_id, container_id, bm25, 0 AS neighbours FROM own
      UNION ALL
      SELECT there.item_id, container_id, 0, near.bm25 FROM near, LATERAL (
        SELECT item_id FROM search_item AS item WHERE item.container_id = near.container_id AND item.ordinal = near.ordinal AND item.container_id <> 0
        OFFSET 0
      ) AS there
      ${meanings === "all" ? "UNION ALL SELECT item_id, container_id, 0, 0 FROM nearest" : ""}
    ) AS part GROUP BY item_id
  ), scored AS (
    -- Of each session its items and what it counts, side by side: there are too many of both to compare each with each.
    SELECT item_id, placed.bm25, neighbours, max(session) OVER (PARTITION BY container_id) AS container FROM (
      SELECT item_id, container_id, bm25, neighbours, 0::float8 AS session FROM placed
      UNION ALL
      SELECT NULL, container_id, 0, 0, bm25 FROM session
    ) AS placed
  ), chosen AS MATERIALIZED (
    (SELECT * FROM scored WHERE item_id IS NOT NULL ORDER BY bm25 + neighbours + container DESC, item_id LIMIT ${CHOSEN})
    ${meanings === "all" ? "UNION SELECT * FROM scored WHERE item_id IN (SELECT item_id FROM nearest)" : ""}
  ), parts AS (
    SELECT item_id, item.length, ${meanings === "none" ? "NULL::bytea AS " : "embedded."}vector,
      chosen.bm25 + neighbours > 0 ${meanings === "all" ? "OR item_id IN (SELECT item_id FROM nearest WHERE stands_out)" : ""} AS is_found, chosen.bm25, neighbours, container,
      CASE WHEN item.terms && $7::text[] THEN ${WEIGHTS.actor}::float8 ELSE 0 END AS actor,
      ${WEIGHTS.date} * coalesce((SELECT sum(weight) FROM unnest($8::text[], $9::float8[]) AS asked (term, weight)
        WHERE asked.term = ANY(item.terms)), 0) AS date,
      CASE origin ${provenance.join(" ")} ELSE 1 END AS provenance,
      1 + ${WEIGHTS.freshness} / (1 + greatest(0, extract(epoch FROM now() - added_at)::float8) / 86400 / ${WEIGHTS.freshnessDays}) AS tie_break
    FROM chosen, LATERAL (
      SELECT terms, origin, added_at, length FROM search_item WHERE search_item.item_id = chosen.item_id OFFSET 0
    ) AS item
    ${meanings === "none" ? "" : vectors(model)}
  ), best AS MATERIALIZED (
    SELECT *, (bm25 + neighbours + container + actor + date) * provenance * tie_break AS score FROM parts
    ORDER BY score DESC, item_id LIMIT $10
  ), held AS (
    SELECT item_id, jsonb_object_agg(term, part) AS terms FROM hit WHERE item_id IN (SELECT item_id FROM best) GROUP BY item_id
  )
  SELECT best.*, coalesce(terms, '{}') AS terms FROM best LEFT JOIN held USING (item_id) ORDER BY score DESC, item_id`;
}

/** What is nearest of all that the viewer sees, by the share of dimensions whose signs differ. */
function nearest(model: string, signs: string): string {
  return `distant AS MATERIALIZED (
    SELECT item_id, bit_count(signs # ${signs}::bit varying) AS distance FROM item_embedding
    WHERE corpus_id = ANY($1::integer[]) AND bit_length(signs) = bit_length(${signs}::bit varying)
      AND EXISTS (SELECT FROM embedding_model WHERE name = ${model}::text)
  ), usual AS MATERIALIZED (
    SELECT avg(distance) - ${STANDS_OUT} * stddev_pop(distance) AS distance FROM distant
  ), near_ones AS MATERIALIZED (
    SELECT item_id, distant.distance < usual.distance AS stands_out
    FROM distant, usual
    ORDER BY distant.distance, item_id LIMIT ${NEAREST}
  ), nearest AS MATERIALIZED (
    SELECT near_ones.item_id, container_id, stands_out FROM near_ones, LATERAL (
      SELECT container_id FROM search_item WHERE search_item.item_id = near_ones.item_id OFFSET 0
    ) AS item
  ),`;
}

function vectors(model: string): string {
  return `LEFT JOIN LATERAL (
      SELECT vector FROM item_embedding WHERE item_embedding.item_id = chosen.item_id
        AND EXISTS (SELECT FROM embedding_model WHERE name = ${model}::text) OFFSET 0
    ) AS embedded ON true`;
}
