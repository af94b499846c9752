import type { Fact } from "./fact.ts";
import { searchFacts, type FactSearch, type SearchPorts } from "./search-facts.ts";
import type { Viewer } from "./viewer.ts";

/** The seeds' limit for what a run is reminded of. */
const MAXIMUM_FACTS = 10;
/**
 * What a fact must hold of a question to be put before a model unasked: a share of its rare terms, since a raw BM25 score
 * hardly tells. At 0.35 it kept 86 % of the facts that answer a question, and let something in for 12 % of the questions
 * put to a memory that knows nothing of them (LoCoMo, 512 questions).
 */
const MINIMUM_COVERAGE = 0.35;

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
