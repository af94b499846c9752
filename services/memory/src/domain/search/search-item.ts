import type { FactOrigin, FactScope } from "../fact.ts";

export type SearchKind = "fact" | "turn" | "page";

/** Something that can be found by its words: a fact, a turn of a transcript, or a page of the wiki. */
export interface SearchItem {
  /** The fact's, the turn's or the page's UUID. */
  readonly itemId: string;
  readonly kind: SearchKind;
  readonly audience: string;
  readonly organization: string;
  readonly owner: string;
  /** Empty but for scope project. */
  readonly project: string;
  readonly scope: FactScope;
  /** The session that it is part of; empty for none. Its words, and those beside it, speak for it. */
  readonly container: string;
  /** Its place in the container, from 0. */
  readonly ordinal: number | null;
  /** Who said it; empty where nobody is known. */
  readonly actor: string;
  readonly saidAt: Date | null;
  readonly origin: FactOrigin;
  readonly text: string;
}
