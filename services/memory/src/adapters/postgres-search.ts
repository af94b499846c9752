import type { Queries } from "@hlvm/postgres/database";
import { coverageOf } from "../domain/search/coverage.ts";
import { inverseFrequency, type FoundItem } from "../domain/search/found-item.ts";
import { MAXIMUM_POSTINGS, type AskedCorpora, type AskedForm, type ItemSearch, type Meaning } from "../domain/search/item-search.ts";
import { otherForms } from "../domain/search/other-forms.ts";
import { possibleActors, questionOf } from "../domain/search/question.ts";
import type { SearchKind } from "../domain/search/search-item.ts";
import { similarities } from "../domain/search/similarity.ts";
import { saturationFor } from "../domain/search/weights.ts";
import { COMPARED, scoreItems } from "./score-items.sql.ts";

/** Postings that a search scores. */
const MAXIMUM_SCORED = 5_000;
/** Of what the rarer words found, as many as the index would give. */
const MAXIMUM_FOUND = 400;

interface ScoredRow extends Record<string, unknown> {
  item_id: string;
  neighbours: number;
  container: number;
  actor: number;
  date: number;
  provenance: number;
  tie_break: number;
  score: number;
  terms: Record<string, number>;
  length: number;
  vector: Buffer | null;
  /** It holds words, stands beside what does, or stands out by its meaning; others are only there to compare with. */
  is_found: boolean;
}

/** Among more, meanings are compared of what the words found alone: looking at all takes a millisecond for some thousands. */
const MAXIMUM_NEAR = 20_000;

/** Search by words, and by meanings, within a transaction that has entered a viewer's scope: what is not in it has no postings there. */
export class PostgresSearch implements ItemSearch {
  readonly #queries: Queries;

  constructor(queries: Queries) {
    this.#queries = queries;
  }

  async ask(kind: SearchKind, text: string): Promise<AskedCorpora> {
    const corpora = await this.#queries.query<{ corpus_id: number; items: string; length: string }>(
      "SELECT corpus_id, items, length FROM search_corpus WHERE kind = $1 AND items > 0",
      [kind],
      "search-corpora",
    );
    const ids = corpora.map((row) => row.corpus_id);
    const items = corpora.reduce((sum, row) => sum + Number(row.items), 0);
    const averageLength = Math.max(1, corpora.reduce((sum, row) => sum + Number(row.length), 0) / Math.max(1, items));
    const possible = possibleActors(text);
    const withNames = questionOf(text, []);
    const counts = await this.#counts(ids, [
      ...new Set([...withNames.terms, ...withNames.terms.flatMap(otherForms), ...withNames.dates, ...possible]),
    ]);
    const countOf = (term: string): number => counts.get(term) ?? 0;
    const question = questionOf(
      text,
      possible.filter((actor) => countOf(actor) > 0),
    );
    const forms = formsOf(question.terms, countOf);
    const frequencies = new Map(counts);
    for (const { term } of forms) frequencies.set(term, 0);
    for (const { term, count } of forms) frequencies.set(term, frequencies.get(term)! + count);
    return { question, ids, items, averageLength, frequencies, forms };
  }

  /** @param candidates of these alone; of all, where it is left out */
  async score(asked: AskedCorpora, limit: number, candidates?: readonly string[]): Promise<FoundItem[]> {
    const { question, frequencies, meaning } = asked;
    const weightOf = (term: string): number => inverseFrequency(asked.items, frequencies.get(term) ?? 0);
    const { saturation, normalization } = saturationFor(asked.averageLength);
    const items = candidates ?? (await this.#foundByRare(asked));
    const among = items === undefined ? "all" : "items";
    const isNear = meaning !== undefined && candidates === undefined && asked.items <= MAXIMUM_NEAR;
    const meanings = meaning === undefined ? "none" : isNear ? "all" : "chosen";
    const rows = await this.#queries.query<ScoredRow>(
      scoreItems({ among, meanings }),
      [
        asked.ids,
        asked.forms.map(({ form }) => form),
        asked.forms.map(({ term }) => weightOf(term)),
        saturation,
        normalization,
        asked.averageLength,
        question.actors,
        question.dates,
        question.dates.map(weightOf),
        meaning === undefined ? limit : COMPARED,
        asked.forms.map(({ term }) => term),
        ...(items === undefined ? [] : [items]),
        ...(meaning === undefined ? [] : [meaning.model]),
        ...(isNear ? [meaning.vector.signs] : []),
      ],
      `search-${among}-${meanings}`,
    );
    const asksFor = [...question.terms, ...question.actors].map((term) => [term, frequencies.get(term) ?? 0] as const);
    const coverage = coverageOf(asked.items, new Map(asksFor));
    return byMeaning(rows, meaning, limit).map(({ row, similarity, score }) => ({
      itemId: row.item_id,
      score,
      coverage: coverage([...Object.keys(row.terms), ...(row.actor > 0 ? question.actors : [])]),
      parts: {
        terms: row.terms,
        neighbours: row.neighbours,
        container: row.container,
        actor: row.actor,
        date: row.date,
        similarity,
        provenance: row.provenance,
        tieBreak: row.tie_break,
      },
    }));
  }

  /** What holds most of the rarer words; undefined where all postings may be read. */
  async #foundByRare({ forms, frequencies, ids, items }: AskedCorpora): Promise<string[] | undefined> {
    if (forms.reduce((sum, { count }) => sum + count, 0) <= MAXIMUM_SCORED) return undefined;
    const finders = findersOf(forms);
    const rows = await this.#queries.query<{ item_id: string }>(
      `SELECT item_id FROM unnest($2::text[], $3::float8[]) AS asked (term, weight), LATERAL (
         SELECT item_id FROM posting WHERE corpus_id = ANY($1::integer[]) AND posting.term = asked.term COLLATE "C" OFFSET 0
       ) AS held GROUP BY item_id ORDER BY sum(weight) DESC, item_id LIMIT ${MAXIMUM_FOUND}`,
      [ids, finders.map(({ form }) => form), finders.map(({ term }) => inverseFrequency(items, frequencies.get(term) ?? 0))],
      "search-rare",
    );
    return rows.map((row) => row.item_id);
  }

  /** Counted up to what a search reads at most: beyond, a word weighs next to nothing. */
  async #counts(corpora: readonly number[], terms: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.#queries.query<{ term: string; count: number }>(
      `SELECT term, (SELECT count(*)::int FROM (
         SELECT FROM posting WHERE corpus_id = ANY($1::integer[]) AND posting.term = asked.term COLLATE "C" LIMIT ${MAXIMUM_POSTINGS + 1}
       ) AS holders) AS count FROM unnest($2::text[]) AS asked (term)`,
      [corpora, terms],
      "search-frequencies",
    );
    return new Map(rows.map((row) => [row.term, row.count]));
  }
}

/** Each term, and its other forms that texts have and the question has not. */
function formsOf(terms: readonly string[], countOf: (term: string) => number): AskedForm[] {
  const forms = new Map(terms.map((term) => [term, term]));
  for (const term of terms) for (const form of otherForms(term)) if (!forms.has(form) && countOf(form) > 0) forms.set(form, term);
  return [...forms].map(([form, term]) => ({ form, term, count: countOf(form) }));
}

/** The rarer ones, as many as may be read; the rarest always. */
function findersOf(forms: readonly AskedForm[]): AskedForm[] {
  let postings = 0;
  return [...forms].sort((a, b) => a.count - b.count).filter(({ count }, at) => (postings += count) <= MAXIMUM_POSTINGS || at === 0);
}

/** The best by words and meanings. */
function byMeaning(rows: readonly ScoredRow[], meaning: Meaning | undefined, limit: number) {
  if (meaning === undefined) return rows.map((row) => ({ row, similarity: 0, score: row.score }));
  const texts = rows.map(({ vector, length }) => ({ length, vector: vector === null ? undefined : new Int8Array(vector) }));
  return similarities(meaning.vector.values, texts)
    .map((similarity, at) => ({
      row: rows[at]!,
      similarity,
      score: rows[at]!.score + similarity * rows[at]!.provenance * rows[at]!.tie_break,
    }))
    .filter(({ row }) => row.is_found)
    .sort((a, b) => b.score - a.score || (a.row.item_id < b.row.item_id ? -1 : 1))
    .slice(0, limit);
}
