import type { Fact } from "./fact.ts";

export type FactChangeKind = "written" | "replaced" | "ended" | "pinned" | "unpinned" | "undone" | "proposed" | "accepted" | "rejected";

/** What was done to facts at once, and by whom. Facts are as they are now. */
export interface FactChange {
  /** UUID. */
  readonly id: string;
  readonly kind: FactChangeKind;
  readonly at: Date;
  /** Empty for what ended before changes were recorded. */
  readonly principal: string;
  /** The call of a run that did it; empty where the person did. */
  readonly sessionId: string;
  readonly runId: string;
  readonly callId: string;
  readonly fact: Fact;
  /** The others that it touched: replaced by the fact, or made to hold again. */
  readonly others: readonly Fact[];
  /** For undone: which change. */
  readonly undoes: { readonly id: string; readonly kind: FactChangeKind } | undefined;
}
