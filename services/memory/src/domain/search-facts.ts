import { HlvmError } from "@hlvm/errors/hlvm-error";
import { audiencesOf } from "./audience.ts";
import type { Candidates } from "./candidates.ts";
import type { FactIndex } from "./fact-index.ts";
import type { FactStore, ScopedFacts } from "./fact-store.ts";
import { rankFacts, type RankedFact } from "./relevance.ts";
import { stemsOf } from "./stems.ts";
import type { Viewer } from "./viewer.ts";

/** More terms than a question has; a pasted page is asked for by its first words. */
const MAXIMUM_TERMS = 32;
const MAXIMUM_CANDIDATES = 100;
/** Facts that a search takes from the outbox; an index that lacks more is not asked. */
const MAXIMUM_WAITING = 500;

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
 * Finds facts in the viewer's scope by the words of a question: candidates from the index, with what it has not taken in
 * yet, loaded from the database, which knows what still holds; then one ranking. With the index away or far behind, the
 * database's own full text gives the candidates and the answer says so.
 */
export async function searchFacts(ports: SearchPorts, viewer: Viewer, query: string, signal: AbortSignal): Promise<FactSearch> {
  const terms = [...new Set(stemsOf(query))].slice(0, MAXIMUM_TERMS);
  if (terms.length === 0) return { facts: [], source: "index", notice: "" };
  const indexed = await askIndex(ports.index, viewer, terms, signal);
  return ports.store.inScope(viewer, async (scoped) => {
    const { candidates, notice } = await withWaiting(scoped, indexed);
    const known = candidates ?? (await scoped.fullTextCandidates(terms, MAXIMUM_CANDIDATES));
    const facts = rankFacts(await scoped.load(known.ids), terms, known, new Date());
    return { facts, source: candidates === undefined ? "database" : "index", notice };
  });
}

/** The index's candidates and what it lacks; none where it did not answer or lacks too much. */
async function withWaiting(facts: ScopedFacts, indexed: Candidates | HlvmError): Promise<{ candidates?: Candidates; notice: string }> {
  if (indexed instanceof HlvmError) return { notice: `${indexed.message} PostgreSQL full text answered instead. ${indexed.advice}` };
  const waiting = await facts.waiting(MAXIMUM_WAITING + 1);
  if (waiting.length > MAXIMUM_WAITING)
    return { notice: "The search index is catching up. PostgreSQL full text answered instead. Nothing needs to be done." };
  return { candidates: { ...indexed, ids: [...new Set([...indexed.ids, ...waiting])] }, notice: "" };
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
