import type { Fact } from "./fact.ts";

/** Facts that may answer a question, and how common its terms are among all that the viewer can see. */
export interface Candidates {
  readonly ids: readonly string[];
  /** Facts in the viewer's scope. */
  readonly total: number;
  /** Term → facts in the viewer's scope that hold it. */
  readonly frequencies: ReadonlyMap<string, number>;
}

/** A fact with its stems, ready to be ranked. */
export interface FoundFact {
  readonly fact: Fact;
  readonly stems: readonly string[];
}
