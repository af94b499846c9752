import type { Fact, NewFact } from "./fact.ts";
import type { FactHistory } from "./fact-history.ts";
import type { ProposedPlace, Proposals } from "./proposals.ts";
import type { ItemSearch } from "./search/item-search.ts";
import type { ToolOutcome } from "./tool-outcome.ts";
import type { Viewer } from "./viewer.ts";

/** A fact on its way into the store, with the keys by which it is found again. */
export interface FactToInsert extends NewFact {
  readonly id: string;
  readonly audience: string;
  readonly slot: string;
  readonly textKey: string;
  readonly stems: readonly string[];
  /** It does not hold, and waits for a person. */
  readonly proposal?: ProposedPlace;
}

/** One use of a writing tool, as its receipt names it. */
export interface CallReference {
  readonly sessionId: string;
  readonly callId: string;
  readonly argumentsHash: string;
}

/** A text within a slot of an audience; the empty slot is that of facts without one. */
export interface TextKey {
  readonly audience: string;
  readonly slot: string;
  readonly textKey: string;
}

/** Where facts are kept, seen by one viewer in one transaction: what is not in the viewer's scope is not there. */
export interface ScopedFacts {
  /** Whatever is changed here has to be recorded in it before the transaction ends. */
  readonly history: FactHistory;
  readonly proposals: Proposals;
  /** Facts and turns by their words. */
  readonly search: ItemSearch;
  /** Nobody else writes for this audience until the transaction ends. */
  lock(audience: string): Promise<void>;
  find(id: string): Promise<Fact | undefined>;
  /** Finds out at once which of these are not there, so that an import does not ask for each; their audiences are locked. */
  lookAhead(texts: readonly TextKey[]): Promise<void>;
  /** The valid fact in a slot. */
  inSlot(audience: string, slot: string): Promise<Fact | undefined>;
  /** The valid fact in a slot whose text has one of these keys. */
  sameText(audience: string, slot: string, textKeys: readonly string[]): Promise<Fact | undefined>;
  insert(fact: FactToInsert): Promise<Fact>;
  /** The fact holds no longer; it stays in the history. */
  end(id: string, supersededBy: string): Promise<Fact>;
  setPinned(id: string, pinned: boolean): Promise<Fact>;
  /** Valid pinned facts, latest first. */
  pinned(limit: number): Promise<Fact[]>;
  /** How many valid facts there are, counted up to the limit. */
  count(limit: number): Promise<number>;
  /** Facts of the viewer's audiences that the index has not taken in yet, latest first. */
  waiting(limit: number): Promise<string[]>;
  /** Those among these that hold still. */
  load(ids: readonly string[]): Promise<Fact[]>;
  /**
   * Makes this call ours until the transaction ends.
   * @returns what it came to, where it was made before
   * @throws HlvmError `call_id_reused` where the id belongs to another call
   */
  claimCall(call: CallReference): Promise<ToolOutcome | undefined>;
  keepOutcome(call: CallReference, outcome: ToolOutcome): Promise<void>;
}

export interface FactStore {
  /** Runs `work` in one transaction, within the viewer's scope. */
  inScope<T>(viewer: Viewer, work: (facts: ScopedFacts) => Promise<T>): Promise<T>;
}
