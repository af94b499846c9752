import { inverseFrequency } from "./found-item.ts";

/** A memory of three facts knows little of which words are rare: it counts as one of so many. */
const LEAST_TEXTS = 1_000;
/** A long question is not held against a text: coverage is of its rarest terms. */
const TERMS_TO_COVER = 5;

/** Tells how much of what is rare in a question a text with some of its terms holds, 0 to 1. */
export function coverageOf(total: number, frequencies: ReadonlyMap<string, number>): (held: readonly string[]) => number {
  const weights = new Map([...frequencies].map(([term, frequency]) => [term, inverseFrequency(Math.max(total, LEAST_TEXTS), frequency)]));
  const rarest = [...weights.values()].sort((a, b) => b - a).slice(0, TERMS_TO_COVER);
  const coverable = rarest.reduce((sum, weight) => sum + weight, 0);
  return (held) => {
    const covered = held.reduce((sum, term) => sum + (weights.get(term) ?? 0), 0);
    return coverable === 0 ? 0 : Math.min(1, covered / coverable);
  };
}
