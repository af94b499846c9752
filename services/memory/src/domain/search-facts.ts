import { HlvmError } from "@hlvm/errors/hlvm-error";
import { audiencesOf } from "./audience.ts";
import type { Candidates } from "./candidates.ts";
import type { FactIndex } from "./fact-index.ts";
import type { FactStore } from "./fact-store.ts";
import { rankFacts, type RankedFact } from "./relevance.ts";
import { stemsOf } from "./stems.ts";
import type { Viewer } from "./viewer.ts";

/** More terms than a question has; a pasted page is asked for by its first words. */
const MAXIMUM_TERMS = 32;
const MAXIMUM_CANDIDATES = 200;

export interface SearchPorts {
  readonly store: FactStore;
  readonly index: FactIndex;
}

export interface FactSearch {
  /** Best first. */
  readonly facts: readonly RankedFact[];
  readonly source: "index" | "database";
  /** Why the index was not used; empty when it was. */
  readonly notice: string;
}

/**
 * Finds facts in the viewer's scope by the words of a question: candidates from the index, and what it has not taken in
 * yet from the database, which also says what still holds; then one ranking. With the index away, the database's full
 * text gives the candidates and the answer says so.
 */
export async function searchFacts(ports: SearchPorts, viewer: Viewer, query: string, signal: AbortSignal): Promise<FactSearch> {
  const terms = [...new Set(stemsOf(query))].slice(0, MAXIMUM_TERMS);
  if (terms.length === 0) return { facts: [], source: "index", notice: "" };
  const indexed = await askIndex(ports.index, viewer, terms, signal);
  const isAway = indexed instanceof HlvmError;
  const facts = await ports.store.inScope(viewer, async (scoped) => {
    const candidates = isAway ? await scoped.fullTextCandidates(terms, MAXIMUM_CANDIDATES) : indexed;
    const found = await scoped.load(candidates.ids, terms, MAXIMUM_CANDIDATES);
    return rankFacts(found, terms, candidates, new Date());
  });
  return isAway ? { facts, source: "database", notice: noticeOf(indexed) } : { facts, source: "index", notice: "" };
}

async function askIndex(index: FactIndex, viewer: Viewer, terms: readonly string[], signal: AbortSignal): Promise<Candidates | HlvmError> {
  try {
    return await index.candidates(audiencesOf(viewer), terms, MAXIMUM_CANDIDATES, signal);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof HlvmError && cause.reason === "index_unavailable") return cause;
    throw cause;
  }
}

function noticeOf(away: HlvmError): string {
  return `${away.message} PostgreSQL full text answered instead. ${away.advice}`;
}
