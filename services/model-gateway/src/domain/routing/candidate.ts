import type { Model } from "../model.ts";
import type { TokenRates } from "../price-table.ts";

/** A model that could be chosen. */
export interface Candidate {
  readonly model: Model;
  /** What is sent to it does not leave this machine. */
  readonly isLocal: boolean;
  /** Plays rules or a script: `auto` takes it only where there is nothing else. */
  readonly isStandIn: boolean;
  /** As of now; undefined where nobody knows. */
  readonly rates: TokenRates | undefined;
}
