import type { Fact } from "./fact.ts";
import { searchFacts, type FactSearch, type SearchPorts } from "./search-facts.ts";
import type { Viewer } from "./viewer.ts";

/** The seeds' limit for what a run is reminded of. */
const MAXIMUM_FACTS = 10;
/**
 * How much of what is rare in a question the best of what was found must hold for anything to be put before a model unasked, since a raw
 * BM25 score hardly tells. One that does opens for all ten: what stands beside an answer helps to answer. See the README for what it
 * keeps and lets in.
 */
export const MINIMUM_COVERAGE = 0.3;

export interface Recalled {
  /** Pinned ones first, then the most relevant. */
  readonly facts: readonly Fact[];
  readonly moreExist: boolean;
  readonly source: FactSearch["source"];
  readonly notice: string;
}

/** What a run is reminded of at its start. */
export async function recall(ports: SearchPorts, viewer: Viewer, query: string, signal: AbortSignal): Promise<Recalled> {
  const search = await searchFacts(ports, viewer, { query, limit: MAXIMUM_FACTS }, signal);
  const { pinned, count } = await ports.store.inScope(viewer, async (facts) => ({
    pinned: await facts.pinned(MAXIMUM_FACTS),
    count: await facts.count(MAXIMUM_FACTS + 1),
  }));
  const pinnedIds = new Set(pinned.map((fact) => fact.id));
  const isOpen = search.facts.some(({ coverage }) => coverage >= MINIMUM_COVERAGE);
  const relevant = isOpen ? search.facts.filter(({ fact }) => !pinnedIds.has(fact.id)) : [];
  const facts = [...pinned, ...relevant.map(({ fact }) => fact)].slice(0, MAXIMUM_FACTS);
  return { facts, moreExist: count > facts.length, source: search.source, notice: search.notice };
}
