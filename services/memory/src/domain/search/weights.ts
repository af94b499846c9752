import type { FactOrigin } from "../fact.ts";

/**
 * All that recall is tuned by, in the unit of BM25. Chosen on conversations 1 to 5 of LoCoMo; what the others and other sets come to
 * is in the README: a change here is measured on more than one set.
 */
export const WEIGHTS = {
  /** BM25 by the length of a corpus's texts: turns of a chat, and documents; between them in proportion. */
  short: { length: 30, saturation: 1.2, normalization: 0.3 },
  long: { length: 150, saturation: 1.2, normalization: 0.75 },
  /** What stands before it in its session, by the distance: the question speaks for its answer. What stands behind it counts half. */
  neighbours: [0.6, 0.3, 0.1],
  behind: 0.5,
  /** The session as one text. */
  container: 1.2,
  /** The question names who said it. */
  actor: 3,
  /** The question names the year, the month or the day that it was said on: a share of what that tells. */
  date: 2,
  /** How far its meaning stands out, a standard deviation, and the logarithm of its length, where a model makes vectors. */
  similarity: { weight: 2.5, length: 1 },
  provenance: { "user-stated": 2, "model-inferred": 1, "system-generated": 1 } satisfies Record<FactOrigin, number>,
  /** Age breaks ties: what is new gains at most this share. A halving by age was measured to destroy recall. */
  freshness: 0.05,
  freshnessDays: 90,
} as const;

export interface Saturation {
  readonly saturation: number;
  readonly normalization: number;
}

export function saturationFor(averageLength: number): Saturation {
  const { short, long } = WEIGHTS;
  const share = Math.min(1, Math.max(0, (averageLength - short.length) / (long.length - short.length)));
  const between = (from: number, to: number): number => from + share * (to - from);
  return {
    saturation: between(short.saturation, long.saturation),
    normalization: between(short.normalization, long.normalization),
  };
}
