import type { Viewer } from "../viewer.ts";
import { citedFacts, lintPages, type Finding } from "./lint-pages.ts";
import type { WikiStore } from "./wiki-store.ts";

export const MAXIMUM_PAGES = 1_000;
const MAXIMUM_FINDINGS = 1_000;
const MAXIMUM_FACTS = 5_000;

/** What is wrong with the pages that a viewer reads, as far as a program sees it; at most 1,000 findings. */
export async function lintWiki(store: WikiStore, viewer: Viewer): Promise<Finding[]> {
  const pages = await store.list(viewer, MAXIMUM_PAGES);
  const ended = await store.endedFacts(viewer, citedFacts(pages).slice(0, MAXIMUM_FACTS));
  return lintPages(pages, new Set(ended), new Date()).slice(0, MAXIMUM_FINDINGS);
}
