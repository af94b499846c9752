import { audienceOf } from "../domain/audience.ts";
import type { SearchItem } from "../domain/search/search-item.ts";
import type { RevisionState, WikiPage, WikiRevision, WikiScope } from "../domain/wiki/wiki-store.ts";

export interface PageRow extends Record<string, unknown> {
  scope: WikiScope;
  name: string;
  title: string;
  summary: string;
  tags: string[];
  present: number;
  content: string;
  written_by: string;
  published_at: Date;
  waiting: number;
}

/** Of what is published. */
export const PAGES = `SELECT wiki_page.page_id, wiki_page.scope, name, title, summary, tags, present, content, written_by,
    coalesce(decided_at, written_at) AS published_at,
    (SELECT count(*)::int FROM wiki_revision AS other WHERE other.page_id = wiki_page.page_id AND state = 'waiting') AS waiting
  FROM wiki_page JOIN wiki_revision ON wiki_revision.page_id = wiki_page.page_id AND number = present
  WHERE present > 0`;

export function pageOf({ scope, name, title, summary, tags, present, content, written_by, published_at, waiting }: PageRow): WikiPage {
  return { scope, name, title, summary, tags, number: present, content, writtenBy: written_by, publishedAt: published_at, waiting };
}

export interface RevisionRow extends Record<string, unknown> {
  revision_id: string;
  scope: WikiScope;
  name: string;
  number: number;
  base: number;
  content: string;
  removes: boolean;
  reason: string;
  state: RevisionState;
  written_by: string;
  session_id: string;
  written_at: Date;
  decided_by: string;
  decided_at: Date | null;
}

/** Of wiki_revision joined with wiki_page. */
export function revisionColumns(content: "content" | "''" = "content"): string {
  return `revision_id, wiki_revision.scope, name, number, base, ${content} AS content, removes, reason, state, written_by, session_id,
    written_at, decided_by, decided_at`;
}

export function revisionOf(row: RevisionRow): WikiRevision {
  const { scope, name, number, base, content, removes, reason, state } = row;
  return {
    id: row.revision_id,
    scope,
    name,
    number,
    base,
    content,
    removes,
    reason,
    state,
    writtenBy: row.written_by,
    sessionId: row.session_id,
    writtenAt: row.written_at,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at ?? undefined,
  };
}

export interface SearchedPageRow extends Record<string, unknown> {
  page_id: string;
  organization: string;
  scope: WikiScope;
  project: string;
  content: string;
}

/** Of wiki_page joined with the revision that is present. */
export const SEARCHED_PAGE_COLUMNS = "wiki_page.page_id, wiki_page.organization, wiki_page.scope, wiki_page.project, content";

/** A page as it is found by its words. Who wrote it last is nobody's business there. */
export function pageSearchItem({ page_id, organization, scope, project, content }: SearchedPageRow): SearchItem {
  return {
    itemId: page_id,
    kind: "page",
    organization,
    owner: "",
    project,
    scope,
    audience: audienceOf(organization, { scope, owner: "", project }),
    container: "",
    ordinal: null,
    actor: "",
    saidAt: null,
    origin: "user-stated",
    text: content,
  };
}
