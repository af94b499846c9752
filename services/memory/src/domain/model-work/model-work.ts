import type { SessionLabels } from "@hlvm/transcripts/labels/session-labels";
import type { EntityMention } from "../entities/entity.ts";
import type { Fact } from "../fact.ts";
import type { ScopedFacts } from "../fact-store.ts";
import type { Turn } from "../transcripts/transcript-store.ts";
import type { Viewer } from "../viewer.ts";

/** What one answer of a model is asked of, for a while nobody else's. */
export interface WorkClaim {
  readonly claimId: string;
  /** A transcript's id, or a fact's. */
  readonly itemId: string;
  readonly kind: "session" | "fact";
  /** Of a fact; empty where it is of none. */
  readonly project: string;
}

export interface WaitingWork {
  readonly sessions: number;
  readonly facts: number;
  /** Whose answers were refused too often. */
  readonly setAside: number;
}

/** A fact that holds, and where it is kept. */
export interface PlacedFact {
  readonly fact: Fact;
  readonly audience: string;
  readonly textKey: string;
}

/** One claimed item within a transaction: nobody changes it until that ends. */
export interface ClaimedItem extends WorkClaim {
  readonly facts: ScopedFacts;
  /** Of the session, in their order. */
  turns(): Promise<readonly (Turn & { readonly id: string })[]>;
  /** The fact, while it holds and has no slot. */
  fact(): Promise<PlacedFact | undefined>;
  putLabels(labels: SessionLabels, model: string): Promise<void>;
  /** What stands in an item, as the model says; names that are known to be there stay as they were found. */
  putMentions(itemId: string, mentions: readonly EntityMention[], model: string): Promise<void>;
  putFoundSlot(slot: { readonly subject: string; readonly predicate: string; readonly slot: string }, model: string): Promise<void>;
  /** Another fact that holds in this slot, or in which a model found it; of the same audience. */
  otherInSlot(fact: PlacedFact, slot: string): Promise<PlacedFact | undefined>;
  /** It waits no longer. */
  finish(): Promise<void>;
  /** It is tried again, unless it was refused too often. */
  refuse(why: string): Promise<void>;
}

/** What waits for a model; of each viewer their own alone. */
export interface ModelWorkStore {
  /** What has waited longest. @returns undefined where nothing does */
  claim(viewer: Viewer, seconds: number): Promise<WorkClaim | undefined>;
  /** @returns undefined where the claim ran out, or what it is of changed or is gone */
  find(viewer: Viewer, claimId: string): Promise<WorkClaim | undefined>;
  /** @returns undefined as `find` does, and then nothing was done */
  withClaimed<T>(viewer: Viewer, claimId: string, work: (item: ClaimedItem) => Promise<T>): Promise<T | undefined>;
  release(viewer: Viewer, claimId: string): Promise<void>;
  count(viewer: Viewer): Promise<WaitingWork>;
}
