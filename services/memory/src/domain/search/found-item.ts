/** Every part of a score; the score is their sum, times provenance, times the tie-break. */
export interface ScoreParts {
  /** BM25 by term. */
  readonly terms: Readonly<Record<string, number>>;
  readonly neighbours: number;
  readonly container: number;
  readonly actor: number;
  readonly date: number;
  /** Of its meaning; 0 where no vectors were compared. */
  readonly similarity: number;
  /** Factors. */
  readonly provenance: number;
  readonly tieBreak: number;
}

export interface FoundItem {
  readonly itemId: string;
  /** Higher is nearer; comparable within one question only. */
  readonly score: number;
  readonly parts: ScoreParts;
  /** 0 to 1: how much of what is rare in the question it holds. */
  readonly coverage: number;
}

/** How much a term tells, from the number of texts that hold it among all. */
export function inverseFrequency(total: number, frequency: number): number {
  return Math.log(1 + (Math.max(total, frequency) - frequency + 0.5) / (frequency + 0.5));
}
