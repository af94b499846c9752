import type { FactChange, FactChangeKind } from "./fact-change.ts";
import type { Fact, FactOrigin, FactScope, FactType } from "./fact.ts";

/** Which facts, or changes of them; what is undefined or empty narrows nothing. */
export interface FactFilter {
  readonly scope: FactScope | undefined;
  readonly origin: FactOrigin | undefined;
  readonly type: FactType | undefined;
  readonly category: string;
  /** Who wrote the fact, or made the change. */
  readonly principal: string;
  readonly since: Date | undefined;
  readonly until: Date | undefined;
  /** Only those that every session is reminded of. */
  readonly pinned?: boolean;
}

/** Where a page ended: its last time, to the microsecond, and the id beside it. */
export interface Place {
  readonly at: string;
  readonly id: string;
}

export interface Page<Item> {
  /** Latest first. */
  readonly items: readonly Item[];
  /** Undefined on the last page. */
  readonly end: Place | undefined;
}

/** How far each of the viewer's audiences was read, in their order; changes of an audience are committed in the order of their numbers. */
export type Heads = readonly string[];

/** What was done to facts in the viewer's scope, and what became of them. */
export interface FactHistory {
  facts(filter: FactFilter, withEnded: boolean, limit: number, before: Place | undefined): Promise<Page<Fact>>;
  changes(filter: FactFilter, limit: number, before: Place | undefined): Promise<Page<FactChange>>;
  heads(): Promise<Heads>;
  /** Changes behind the heads that fit, in order, and the heads behind them; at most so many of each audience are looked at. */
  changesAfter(
    filter: FactFilter,
    heads: Heads,
    limit: number,
  ): Promise<{ readonly changes: readonly FactChange[]; readonly heads: Heads }>;
  /** Changes of a fact and of all that it replaced or was replaced by, latest first. */
  threadOf(factId: string, limit: number): Promise<FactChange[]>;
  find(changeId: string): Promise<FactChange | undefined>;
  /** The latest change of any of these facts. */
  latestOf(factIds: readonly string[]): Promise<FactChange | undefined>;
  /** What is changed from now on is another change than what was changed before in this transaction. */
  beginChange(): void;
  /**
   * Says what all was that has been changed in this transaction, or since its last change began.
   * @returns the change's id
   */
  record(kind: FactChangeKind, factId: string, undoes?: string): string;
  /**
   * Makes all that a change touched what it was before, or nothing of it: where something is not what the change made it, or where
   * another fact has taken the place of one that would hold again.
   */
  revert(changeId: string): Promise<"done" | "changed" | "taken">;
}
