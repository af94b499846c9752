import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  RevisionState as EncodedState,
  WikiPageSchema,
  WikiRevisionSchema,
  WikiScope as EncodedScope,
  type WikiService,
} from "@hlvm/proto/hlvm/memory/v1/wiki_pb";
import type { ProjectStore } from "../domain/projects.ts";
import { approveRevision, readRevision, rejectRevision } from "../domain/wiki/decide-revision.ts";
import { lintWiki, MAXIMUM_PAGES } from "../domain/wiki/lint-wiki.ts";
import { searchPages } from "../domain/wiki/search-pages.ts";
import type { RevisionState, WikiPage, WikiRevision, WikiScope, WikiStore } from "../domain/wiki/wiki-store.ts";
import { mayPublish, readPage, writePage } from "../domain/wiki/write-page.ts";
import { personsViewer, viewerOf } from "./viewer-of.ts";

const SCOPES: Readonly<Record<WikiScope, EncodedScope>> = { project: EncodedScope.PROJECT, team: EncodedScope.TEAM };
const STATES: Readonly<Record<RevisionState, EncodedState>> = {
  published: EncodedState.PUBLISHED,
  waiting: EncodedState.WAITING,
  rejected: EncodedState.REJECTED,
};
const DEFAULT_FOUND = 10;
const DEFAULT_LISTED = 50;

export interface WikiPorts {
  readonly wiki: WikiStore;
  readonly projects: ProjectStore;
}

export function wikiMethods({ wiki, projects }: WikiPorts): ServiceImpl<typeof WikiService> {
  return {
    listWikiPages: async ({ project }, context) => {
      const pages = await wiki.list(await viewerOf(context, projects, project), MAXIMUM_PAGES);
      return { pages: pages.map((page) => encodePage({ ...page, content: "" })) };
    },
    getWikiPage: async ({ project, name, scope }, context) => {
      const page = await readPage(wiki, await viewerOf(context, projects, project), name, decode(SCOPES, scope));
      return { page: encodePage(page) };
    },
    searchWiki: async ({ project, query, limit }, context) => {
      const found = await searchPages(wiki, await viewerOf(context, projects, project), query, limit || DEFAULT_FOUND);
      return { found: found.map(({ page, score }) => ({ page: encodePage(page), score })) };
    },
    writeWikiPage: async ({ project, scope, ...draft }, context) => {
      const viewer = await personsViewer(context, projects, project);
      return { revision: encodeRevision(await writePage(wiki, viewer, { ...draft, scope: decode(SCOPES, scope) })) };
    },
    listWikiRevisions: async ({ project, name, state, limit }, context) => {
      const viewer = await viewerOf(context, projects, project);
      const revisions = await wiki.revisions(viewer, { name, state: decode(STATES, state) }, limit || DEFAULT_LISTED);
      return { revisions: revisions.map(encodeRevision) };
    },
    getWikiRevision: async ({ project, revisionId }, context) => {
      const viewer = await viewerOf(context, projects, project);
      const revision = await readRevision(wiki, viewer, revisionId);
      return {
        revision: encodeRevision(revision),
        baseContent: await wiki.contentOf(viewer, revision, revision.base),
        mayDecide: revision.state === "waiting" && mayPublish(viewer, revision),
      };
    },
    approveWikiRevision: async ({ project, revisionId }, context) => {
      const viewer = await personsViewer(context, projects, project);
      return { revision: encodeRevision(await approveRevision(wiki, viewer, revisionId)) };
    },
    rejectWikiRevision: async ({ project, revisionId }, context) => {
      const viewer = await personsViewer(context, projects, project);
      return { revision: encodeRevision(await rejectRevision(wiki, viewer, revisionId)) };
    },
    lintWiki: async ({ project }, context) => {
      const findings = await lintWiki(wiki, await viewerOf(context, projects, project));
      return { findings: findings.map((finding) => ({ ...finding, scope: SCOPES[finding.scope] })) };
    },
  };
}

/** @returns undefined for unspecified */
function decode<Word extends string>(words: Readonly<Record<Word, number>>, encoded: number): Word | undefined {
  return (Object.keys(words) as Word[]).find((word) => words[word] === encoded);
}

function encodePage({ scope, publishedAt, tags, ...page }: WikiPage) {
  return create(WikiPageSchema, { ...page, tags: [...tags], scope: SCOPES[scope], publishedAt: timestampFromDate(publishedAt) });
}

function encodeRevision({ id, scope, state, writtenAt, decidedAt, ...revision }: WikiRevision) {
  return create(WikiRevisionSchema, {
    ...revision,
    revisionId: id,
    scope: SCOPES[scope],
    state: STATES[state],
    writtenAt: timestampFromDate(writtenAt),
    decidedAt: decidedAt && timestampFromDate(decidedAt),
  });
}
