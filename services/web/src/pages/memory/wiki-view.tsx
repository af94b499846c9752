import { enumWord } from "@hlvm/ndjson/enum-word";
import { WikiScope, WikiScopeSchema } from "@hlvm/proto/hlvm/memory/v1/wiki_pb";
import { lazy } from "react";
import { useSearchParams } from "wouter";
import type { MemoryViewProps } from "./memory-page.tsx";
import { addressWith } from "./memory-question.ts";
import { WikiList } from "./wiki-list.tsx";

const OpenedPage = lazy(async () => ({ default: (await import("./wiki-page.tsx")).OpenedPage }));
const OpenedRevision = lazy(async () => ({ default: (await import("./wiki-revision.tsx")).OpenedRevision }));

export interface WikiTarget {
  readonly page?: string;
  readonly scope?: WikiScope;
  readonly revision?: string;
}

/** The address of a page or a revision; of neither, the list's. */
export type HrefOf = (target: WikiTarget) => string;

/** Pages that runs propose and people approve: all of them, one, or what a revision changes. */
export function WikiView({ query, project }: MemoryViewProps) {
  const [search] = useSearchParams();
  const hrefOf: HrefOf = ({ page = "", scope, revision = "" }) =>
    `/memory/wiki?${addressWith({ project, page, scope: wordOf(scope), revision }, search).toString()}`;
  const [page, revision] = ["page", "revision"].map((name) => search.get(name) ?? "");
  const scope = [WikiScope.PROJECT, WikiScope.TEAM].find((one) => wordOf(one) === search.get("scope")) ?? WikiScope.UNSPECIFIED;
  if (revision !== "") return <OpenedRevision key={`${project} ${revision}`} revisionId={revision!} project={project} hrefOf={hrefOf} />;
  if (page !== "") return <OpenedPage key={`${project} ${scope} ${page}`} name={page!} scope={scope} project={project} hrefOf={hrefOf} />;
  return <WikiList query={query} project={project} hrefOf={hrefOf} />;
}

function wordOf(scope: WikiScope = WikiScope.UNSPECIFIED): string {
  return scope === WikiScope.UNSPECIFIED ? "" : enumWord(WikiScopeSchema, scope);
}
