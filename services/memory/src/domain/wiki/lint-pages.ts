import { posix } from "node:path";
import { parsePage, type ParsedPage } from "./page-head.ts";
import type { PageName, WikiPage } from "./wiki-store.ts";

export type LintRule =
  | "broken-link"
  | "ended-fact"
  | "no-front-matter"
  | "no-summary"
  | "no-link-to-it"
  | "same-title"
  | "hidden-text"
  | "old";

export interface Finding extends PageName {
  readonly rule: LintRule;
  readonly message: string;
  /** From 1; 0: the page as a whole. */
  readonly line: number;
}

const OLD_DAYS = 180;
const DAY = 86_400_000;
/** A page that one begins at needs no link to it. */
const STARTS: ReadonlySet<string> = new Set(["index", "home", "readme"]);
const LINK = /\[\[(?<page>[^\][\n|]{1,200})(?:\|[^\][\n]{0,200})?\]\]|\]\((?<path>[^()\s]{1,400})\)/g;
const FACT = /\bfact:(?<id>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/g;
/** As what nobody sees is stored. */
const HIDDEN = /⟦U\+[0-9A-F]+⟧/;

/** The ids of the facts that pages stand on, as `fact:ID` in their text. */
export function citedFacts(pages: readonly WikiPage[]): string[] {
  return [...new Set(pages.flatMap(({ content }) => Array.from(content.matchAll(FACT), (match) => match.groups!.id!)))];
}

/** What is wrong with pages, seen together. @param ended the facts among the cited that hold no longer */
export function lintPages(pages: readonly WikiPage[], ended: ReadonlySet<string>, now: Date): Finding[] {
  const names = new Set(pages.map(({ name }) => name));
  const linked = new Set<string>();
  const titles = Map.groupBy(pages, ({ title }) => title.toLowerCase());
  const findings = pages.flatMap((page) => {
    const parsed = parsePage(page.name, page.content);
    return [...ofHead(page, parsed, now), ...sameTitle(page, titles), ...ofLines(page, { names, linked, ended })];
  });
  for (const { scope, name } of pages)
    if (!linked.has(name) && !STARTS.has(posix.basename(name)) && pages.length > 1)
      findings.push({ scope, name, rule: "no-link-to-it", message: "No other page links to it.", line: 0 });
  return findings.sort((a, b) => (a.name === b.name ? a.line - b.line : a.name < b.name ? -1 : 1));
}

function ofHead({ scope, name, publishedAt }: WikiPage, { hasFrontMatter, summary }: ParsedPage, now: Date): Finding[] {
  const findings: Finding[] = [];
  const add = (rule: LintRule, message: string): void => void findings.push({ scope, name, rule, message, line: 0 });
  if (!hasFrontMatter) add("no-front-matter", "It has no front matter with a title and a summary.");
  else if (summary === "") add("no-summary", "Its front matter has no summary, which lists show.");
  const days = Math.floor((now.getTime() - publishedAt.getTime()) / DAY);
  if (days > OLD_DAYS) add("old", `Nobody has changed it for ${days} days: does it still hold?`);
  return findings;
}

function sameTitle({ scope, name, title }: WikiPage, titles: ReadonlyMap<string, readonly WikiPage[]>): Finding[] {
  const other = titles.get(title.toLowerCase())!.find((page) => page.name !== name);
  if (other === undefined) return [];
  return [{ scope, name, rule: "same-title", message: `${other.name} has the same title, "${title}".`, line: 0 }];
}

interface Known {
  readonly names: ReadonlySet<string>;
  /** Pages that others link to; found ones are added. */
  readonly linked: Set<string>;
  readonly ended: ReadonlySet<string>;
}

function ofLines({ scope, name, content }: WikiPage, { names, linked, ended }: Known): Finding[] {
  const findings: Finding[] = [];
  for (const [at, text] of content.split("\n").entries()) {
    const add = (rule: LintRule, message: string): void => void findings.push({ scope, name, rule, message, line: at + 1 });
    for (const { groups } of text.matchAll(LINK)) {
      const target = groups!.page === undefined ? pageOfPath(name, groups!.path!) : groups!.page.trim();
      if (target === undefined) continue;
      if (!names.has(target)) add("broken-link", `There is no page ${target}.`);
      else if (target !== name) linked.add(target);
    }
    for (const { groups } of text.matchAll(FACT))
      if (ended.has(groups!.id!)) add("ended-fact", `Fact ${groups!.id} holds no longer: \`hlvm memory show ${groups!.id}\`.`);
    if (HIDDEN.test(text)) add("hidden-text", "It has characters that nobody sees.");
  }
  return findings;
}

/** @returns undefined where a link leads to something else than a page */
function pageOfPath(from: string, path: string): string | undefined {
  const [target = ""] = path.split("#", 1);
  if (!target.endsWith(".md") || /^[a-z][a-z0-9+.-]*:|^\//i.test(target)) return undefined;
  return posix.normalize(posix.join(posix.dirname(from), target)).slice(0, -".md".length);
}
