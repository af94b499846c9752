import type { Candidates, FoundFact } from "./candidates.ts";
import type { Fact, FactOrigin } from "./fact.ts";

/** BM25 for short texts, as measured on turns of conversations; long documents want 1.2 and 0.75. */
const TERM_SATURATION = 0.9;
const LENGTH_NORMALIZATION = 0.4;
/** What a person said counts double: the strongest single signal that was measured. */
const ORIGIN_WEIGHTS: Readonly<Record<FactOrigin, number>> = { "user-stated": 2, "model-inferred": 1, "system-generated": 1 };
/** Age only breaks ties: a new fact gains at most this share. A halving by age was measured to destroy recall. */
const FRESHNESS_SHARE = 0.05;
const FRESHNESS_DAYS = 90;
const DAY_MILLISECONDS = 86_400_000;
/** A long question is not held against a fact: coverage is of its rarest terms. */
const TERMS_TO_COVER = 5;

export interface RankedFact {
  readonly fact: Fact;
  /** Higher is nearer; comparable within one question only. */
  readonly score: number;
  /** 0 to 1: how much of what is rare in the question the fact holds. */
  readonly coverage: number;
}

/** How much a term tells, from the number of facts that hold it among all. */
export function inverseFrequency(total: number, frequency: number): number {
  return Math.log(1 + (Math.max(total, frequency) - frequency + 0.5) / (frequency + 0.5));
}

/** Ranks what was found by BM25, who said it and, barely, its age; what holds none of the terms falls out. */
export function rankFacts(found: readonly FoundFact[], terms: readonly string[], known: Candidates, now: Date): RankedFact[] {
  const weights = weightsOf(found, terms, known);
  const rarest = [...weights.values()].sort((a, b) => b - a).slice(0, TERMS_TO_COVER);
  const coverable = rarest.reduce((sum, weight) => sum + weight, 0);
  const averageLength = found.reduce((sum, { stems }) => sum + stems.length, 0) / Math.max(found.length, 1);
  return found
    .map(({ fact, stems }) => {
      const counts = countsOf(stems, weights);
      const norm = TERM_SATURATION * (1 - LENGTH_NORMALIZATION + LENGTH_NORMALIZATION * (stems.length / averageLength));
      let relevance = 0;
      let covered = 0;
      for (const [term, count] of counts) {
        const weight = weights.get(term)!;
        relevance += (weight * count * (TERM_SATURATION + 1)) / (count + norm);
        covered += weight;
      }
      return {
        fact,
        score: relevance * ORIGIN_WEIGHTS[fact.origin] * (1 + FRESHNESS_SHARE * freshness(fact, now)),
        coverage: coverable === 0 ? 0 : Math.min(1, covered / coverable),
      };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.fact.id < b.fact.id ? -1 : 1));
}

/** What is not indexed yet is counted as well, so that the first facts of all have weights. */
function weightsOf(found: readonly FoundFact[], terms: readonly string[], known: Candidates): Map<string, number> {
  const total = Math.max(known.total, found.length);
  return new Map(
    terms.map((term) => {
      const holders = found.filter(({ stems }) => stems.includes(term)).length;
      return [term, inverseFrequency(total, Math.max(known.frequencies.get(term) ?? 0, holders))];
    }),
  );
}

function countsOf(stems: readonly string[], weights: ReadonlyMap<string, number>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const stem of stems) if (weights.has(stem)) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  return counts;
}

function freshness(fact: Fact, now: Date): number {
  const days = Math.max(0, (now.getTime() - fact.validFrom.getTime()) / DAY_MILLISECONDS);
  return 1 / (1 + days / FRESHNESS_DAYS);
}
