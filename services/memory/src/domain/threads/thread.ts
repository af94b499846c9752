import type { Entity, EntityKind } from "../entities/entity.ts";
import type { FactChange } from "../fact-change.ts";
import type { Place } from "../fact-history.ts";
import type { Fact } from "../fact.ts";
import type { TranscriptHead, Turn } from "../transcripts/transcript-store.ts";
import type { RecallKind } from "../usage/usage-log.ts";
import type { Viewer } from "../viewer.ts";

export interface CountedEntity extends Entity {
  readonly items: number;
  /** By its form it is none in any of them. */
  readonly isFoundByModel: boolean;
}

export interface ThreadQuestion {
  /** An entity's name, a fact's id, or a session's. */
  readonly name: string;
  /** Undefined: whatever has the name. */
  readonly kind: EntityKind | undefined;
  readonly limit: number;
  /** Where the page before this one ended; undefined for the first. */
  readonly before: Place | undefined;
}

/** Facts that the viewer, or a run in their name, was shown or answered with. */
export interface FactUse {
  /** Undefined for an answer. */
  readonly kind: RecallKind | undefined;
  readonly sessionId: string;
  readonly runId: string;
  readonly query: string;
  readonly factIds: readonly string[];
}

export type ThreadEvent = { readonly at: Date } & (
  | { readonly what: "change"; readonly change: FactChange }
  | { readonly what: "turn"; readonly transcript: Pick<TranscriptHead, "tool" | "session" | "title">; readonly turn: Turn }
  | { readonly what: "shown" | "used"; readonly use: FactUse }
);

/** One entity, fact or session through time. */
export interface Thread {
  /** What the name stands for, by kinds; none for a fact, a session, and what is unknown. */
  readonly entities: readonly CountedEntity[];
  readonly fact: Fact | undefined;
  readonly sessionId: string;
  /** Other names that may be meant. */
  readonly similar: readonly CountedEntity[];
  /** Those that hold or held, and those beside them in their slots; latest first. */
  readonly facts: readonly Fact[];
  /** Latest first. */
  readonly events: readonly ThreadEvent[];
  /** Undefined on the last page. */
  readonly end: Place | undefined;
  /** What the same items speak of. */
  readonly related: readonly CountedEntity[];
}

/** What a viewer sees of it, and nothing else. */
export interface ThreadStore {
  get(viewer: Viewer, question: ThreadQuestion): Promise<Thread>;
}
