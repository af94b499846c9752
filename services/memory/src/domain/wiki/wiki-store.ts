import type { FoundItem } from "../search/found-item.ts";
import type { Viewer } from "../viewer.ts";

/** Whose pages: of the viewer's project, or of the whole organization. */
export type WikiScope = "project" | "team";
export type RevisionState = "published" | "waiting" | "rejected";

export interface PageName {
  readonly scope: WikiScope;
  readonly name: string;
}

export interface PageHead {
  readonly title: string;
  readonly summary: string;
  readonly tags: readonly string[];
}

export interface WikiPage extends PageName, PageHead {
  /** Of the revision that is published, from 1. */
  readonly number: number;
  readonly content: string;
  readonly writtenBy: string;
  readonly publishedAt: Date;
  /** Revisions of it that wait. */
  readonly waiting: number;
}

export interface RevisionDraft extends PageName {
  readonly content: string;
  /** The published revision that it is written on; 0: the page is new. */
  readonly base: number;
  readonly reason: string;
  readonly removes: boolean;
}

export interface WikiRevision extends RevisionDraft {
  readonly id: string;
  /** Once published, from 1; 0 before. */
  readonly number: number;
  readonly state: RevisionState;
  readonly writtenBy: string;
  /** Empty where a person wrote it. */
  readonly sessionId: string;
  readonly writtenAt: Date;
  readonly decidedBy: string;
  readonly decidedAt: Date | undefined;
}

export interface RevisionFilter {
  /** Empty: of all pages. */
  readonly name: string;
  readonly state: RevisionState | undefined;
}

export interface RankedPage extends Omit<FoundItem, "itemId"> {
  readonly page: WikiPage;
}

/** Pages that a viewer may read; nobody else's are seen. */
export interface WikiStore {
  /** By name, with their contents. */
  list(viewer: Viewer, limit: number): Promise<WikiPage[]>;
  /** What is published; undefined where nothing is. */
  find(viewer: Viewer, page: PageName): Promise<WikiPage | undefined>;
  /** Best first. */
  search(viewer: Viewer, query: string, limit: number): Promise<RankedPage[]>;
  /**
   * Stores what was written; published, it is what the page says from then on. A call that was made before gives what it gave.
   * @throws HlvmError `wiki_page_changed` where the page is no longer what the draft was written on
   */
  add(viewer: Viewer, draft: RevisionDraft, head: PageHead, state: "published" | "waiting"): Promise<WikiRevision>;
  /** @throws HlvmError `wiki_page_changed`, `wiki_revision_decided` */
  publish(viewer: Viewer, revision: WikiRevision, head: PageHead): Promise<WikiRevision>;
  /** @throws HlvmError `wiki_revision_decided` */
  reject(viewer: Viewer, revision: WikiRevision): Promise<WikiRevision>;
  /** How many of the viewer's own wait. */
  countWaiting(viewer: Viewer): Promise<number>;
  /** The one that was written last first; without contents. */
  revisions(viewer: Viewer, filter: RevisionFilter, limit: number): Promise<WikiRevision[]>;
  findRevision(viewer: Viewer, id: string): Promise<WikiRevision | undefined>;
  /** What a published revision said; empty where there is none. */
  contentOf(viewer: Viewer, page: PageName, number: number): Promise<string>;
  /** Of these facts those that hold no longer. */
  endedFacts(viewer: Viewer, ids: readonly string[]): Promise<string[]>;
}
