import type { Candidates } from "./candidates.ts";

export interface AskedWords {
  readonly terms: readonly string[];
  /** They and their other forms. */
  readonly forms: readonly string[];
}

/** The search index: quick, a little behind, and allowed to be away. */
export interface FactIndex {
  /** It is asked where more facts than this hold each word of a question: those of a rarer word PostgreSQL finds faster, and all. */
  readonly servesFrom: number;
  /**
   * Facts of these audiences that hold any of the words, those with all of them or with the rarer ones first.
   * @throws HlvmError `index_unavailable`, soon
   */
  candidates(audiences: readonly string[], words: AskedWords, limit: number, signal: AbortSignal): Promise<Candidates>;
}
