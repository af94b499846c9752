import type { Candidates } from "./candidates.ts";

/** The search index: quick, a little behind, and allowed to be away. */
export interface FactIndex {
  /** With fewer facts in a scope it has no advantage, and is not asked. */
  readonly servesFrom: number;
  /**
   * Facts of these audiences that hold any of the terms, those with the rarer terms first.
   * @throws HlvmError `index_unavailable`, soon
   */
  candidates(audiences: readonly string[], terms: readonly string[], limit: number, signal: AbortSignal): Promise<Candidates>;
}
