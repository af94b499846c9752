import type { ToolOutcome } from "./tool-outcome.ts";
import type { Viewer } from "./viewer.ts";
import { lintWiki } from "./wiki/lint-wiki.ts";
import { searchPages } from "./wiki/search-pages.ts";
import type { WikiPage, WikiScope, WikiStore } from "./wiki/wiki-store.ts";
import { readPage, writePage } from "./wiki/write-page.ts";

/** The tools' arguments, as their schemas in `@hlvm/tools` have them. */
interface Given {
  readonly name: string;
  readonly scope?: WikiScope;
  readonly query?: string;
  readonly limit?: number;
  readonly content: string;
  readonly base: number;
  readonly reason: string;
}
type WikiAnswer = Pick<ToolOutcome, "content" | "summary">;

const DEFAULT_LISTED = 100;
const DEFAULT_FOUND = 5;
const MAXIMUM_FINDINGS = 50;

const TOOLS: ReadonlyMap<string, (store: WikiStore, viewer: Viewer, given: Given) => Promise<WikiAnswer>> = new Map([
  ["wiki_read", read],
  ["wiki_search", search],
  ["wiki_write", write],
]);

export function isWikiTool(tool: string): boolean {
  return TOOLS.has(tool);
}

/** Runs a tool for the wiki, with arguments that fit its schema. */
export async function wikiTool(tool: string, store: WikiStore, viewer: Viewer, given: unknown): Promise<ToolOutcome> {
  return { success: true, errorCode: "", ...(await TOOLS.get(tool)!(store, viewer, given as Given)) };
}

async function list(store: WikiStore, viewer: Viewer, limit: number): Promise<WikiAnswer> {
  const pages = await store.list(viewer, limit);
  if (pages.length === 0) return { content: "The wiki has no pages yet.", summary: "no pages" };
  const findings = (await lintWiki(store, viewer)).slice(0, MAXIMUM_FINDINGS);
  const wrong = findings.map(({ name, line, rule, message }) => `- ${name}${line === 0 ? "" : `:${line}`} ${rule}: ${message}`);
  const content = [...pages.map((page) => `- ${lineOf(page)}`), ...(wrong.length === 0 ? [] : ["\nTo mend:", ...wrong])].join("\n");
  return { content, summary: `${pages.length} ${pages.length === 1 ? "page" : "pages"}` };
}

async function read(store: WikiStore, viewer: Viewer, { name, scope }: Given): Promise<WikiAnswer> {
  const page = await readPage(store, viewer, name, scope);
  const head = `(${page.scope} page ${page.name}, revision ${page.number}, ${page.publishedAt.toISOString().slice(0, 10)})`;
  return { content: `${head}\n${page.content}`, summary: `page ${page.name}` };
}

async function search(store: WikiStore, viewer: Viewer, { query, limit }: Given): Promise<WikiAnswer> {
  if (query === undefined) return list(store, viewer, limit ?? DEFAULT_LISTED);
  const found = await searchPages(store, viewer, query, limit ?? DEFAULT_FOUND);
  if (found.length === 0)
    return { content: "No page holds these words. Try other words for the same, or none for all pages.", summary: "no page found" };
  const content = found.map(({ page }) => `## ${lineOf(page)}\n${page.content}`).join("\n\n");
  return { content, summary: `${found.length} ${found.length === 1 ? "page" : "pages"} found` };
}

async function write(store: WikiStore, viewer: Viewer, { name, scope, content, base, reason }: Given): Promise<WikiAnswer> {
  const revision = await writePage(store, viewer, { name, scope, content, base, reason, removes: false });
  return {
    content: `Not published yet: revision ${revision.id} of ${revision.name} waits until a person approves it. Do not write it again.`,
    summary: `proposed for the page ${revision.name}`,
  };
}

function lineOf({ scope, name, title, summary, number }: WikiPage): string {
  return `${name} (${scope}, revision ${number}): ${title}${summary === "" ? "" : `. ${summary}`}`;
}
