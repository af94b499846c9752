import type { SessionLabels, SessionStatus } from "@hlvm/transcripts/labels/session-labels";
import type { FoundItem } from "../search/found-item.ts";
import type { Viewer } from "../viewer.ts";

export type Speaker = "person" | "assistant" | "tool" | "harness";

export interface Turn {
  /** Unique within its session. */
  readonly key: string;
  /** Its place in the session, from 0. */
  readonly ordinal: number;
  readonly speaker: Speaker;
  readonly saidAt: Date | undefined;
  readonly text: string;
}

/** A session as its agent names it. */
export interface TranscriptName {
  /** For example claude-code. */
  readonly tool: string;
  readonly session: string;
}

export interface TranscriptHead extends TranscriptName {
  readonly title: string;
  /** Where the session worked. */
  readonly folder: string;
  /** Where it was read. */
  readonly machine: string;
}

export interface Transcript extends TranscriptHead {
  readonly turns: number;
  readonly firstAt: Date | undefined;
  readonly lastAt: Date | undefined;
  readonly cited: number;
  /** Undefined where no model labelled it. */
  readonly labels: StoredLabels | undefined;
}

export interface StoredLabels extends SessionLabels {
  readonly model: string;
  readonly labelledAt: Date;
  /** The session has changed since. */
  readonly isOutdated: boolean;
}

/** Which sessions are listed. */
export interface TranscriptFilter {
  /** Empty: of all tools. */
  readonly tool: string;
  /** All of its words stand in the title or the labels. */
  readonly text: string;
  readonly status: SessionStatus | undefined;
  readonly limit: number;
}

export interface TurnsStored {
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly isForgotten: boolean;
}

export interface TranscriptSource {
  readonly tool: string;
  readonly machine: string;
  readonly sessions: number;
  readonly turns: number;
  readonly sessionsWithoutPerson: number;
  readonly newestTurnAt: Date | undefined;
  readonly importedAt: Date;
}

export interface RankedTurn extends Omit<FoundItem, "itemId"> {
  readonly transcript: Transcript;
  readonly turn: Turn;
}

/** Sessions with other agents; of each viewer their own alone. */
export interface TranscriptStore {
  /**
   * Turns that are known with the same text stay as they are; known with another, they are replaced.
   * @param head firstAsked is the title of a session that has none
   */
  put(viewer: Viewer, head: TranscriptHead & { readonly firstAsked: string }, turns: readonly Turn[]): Promise<TurnsStored>;
  /** The one that was imported last first. */
  list(viewer: Viewer, filter: TranscriptFilter): Promise<Transcript[]>;
  /** Best first; several turns of one session may be among them. */
  search(viewer: Viewer, query: string, limit: number): Promise<RankedTurn[]>;
  /** @returns undefined where the viewer has no such session */
  read(
    viewer: Viewer,
    name: TranscriptName,
    fromOrdinal: number,
    limit: number,
  ): Promise<{ transcript: Transcript; turns: Turn[] } | undefined>;
  countCitation(viewer: Viewer, name: TranscriptName): Promise<void>;
  sources(viewer: Viewer): Promise<TranscriptSource[]>;
  /** @param session empty: all of the tool */
  forget(viewer: Viewer, tool: string, session: string): Promise<{ sessions: number; turns: number }>;
}
