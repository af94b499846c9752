import type { Fact } from "./fact.ts";
import { searchFacts, type FactSearch, type SearchPorts } from "./search-facts.ts";
import type { Viewer } from "./viewer.ts";

/** The seeds' limit for what a run is reminded of. */
const MAXIMUM_FACTS = 10;
/**
 * What a fact must hold of a question to be put before a model unasked. A share of the rare terms, since a raw BM25 score
 * tells relevant from irrelevant no better than chance.
 */
const MINIMUM_COVERAGE = 0.3;

export interface Recalled {
  /** Pinned ones first, then the most relevant. */
  readonly facts: readonly Fact[];
  readonly moreExist: boolean;
  readonly source: FactSearch["source"];
  readonly notice: string;
}

/** What a run is reminded of at its start. */
export async function recall(ports: SearchPorts, viewer: Viewer, query: string, signal: AbortSignal): Promise<Recalled> {
  const search = await searchFacts(ports, viewer, query, signal);
  const { pinned, count } = await ports.store.inScope(viewer, async (facts) => ({
    pinned: await facts.pinned(MAXIMUM_FACTS),
    count: await facts.count(MAXIMUM_FACTS + 1),
  }));
  const pinnedIds = new Set(pinned.map((fact) => fact.id));
  const relevant = search.facts.filter(({ fact, coverage }) => coverage >= MINIMUM_COVERAGE && !pinnedIds.has(fact.id));
  const facts = [...pinned, ...relevant.map(({ fact }) => fact)].slice(0, MAXIMUM_FACTS);
  return { facts, moreExist: count > facts.length, source: search.source, notice: search.notice };
}
