import { excerptOf } from "../search/excerpt-of.ts";
import type { Viewer } from "../viewer.ts";
import { parsePage } from "./page-head.ts";
import type { RankedPage, WikiStore } from "./wiki-store.ts";

/** Pages by the words of a question, best first; of each the part that was asked for. */
export async function searchPages(store: WikiStore, viewer: Viewer, query: string, limit: number): Promise<RankedPage[]> {
  const found = await store.search(viewer, query, limit);
  return found.map((ranked) => {
    const { body } = parsePage(ranked.page.name, ranked.page.content);
    return { ...ranked, page: { ...ranked.page, content: excerptOf(body.trim(), query) } };
  });
}
