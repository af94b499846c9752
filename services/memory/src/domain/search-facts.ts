import { HlvmError } from "@hlvm/errors/hlvm-error";
import { audiencesOf } from "./audience.ts";
import type { Candidates } from "./candidates.ts";
import type { Fact } from "./fact.ts";
import type { AskedWords, FactIndex } from "./fact-index.ts";
import type { FactStore, ScopedFacts } from "./fact-store.ts";
import type { FoundItem } from "./search/found-item.ts";
import type { AskedCorpora } from "./search/item-search.ts";
import type { Embedder } from "./search/embedder.ts";
import { withQuestionVector } from "./search/with-question-vector.ts";
import type { Viewer } from "./viewer.ts";

const MAXIMUM_CANDIDATES = 1_000;
/** Facts that a search takes from the outbox; an index that lacks more is not asked. */
const MAXIMUM_WAITING = 500;

export interface SearchPorts {
  readonly store: FactStore;
  readonly index: FactIndex;
  /** Left out: words alone are compared. */
  readonly embedder?: Embedder | undefined;
}

export interface FactQuery {
  readonly query: string;
  /** How many at most. */
  readonly limit: number;
}

export interface RankedFact extends Omit<FoundItem, "itemId"> {
  readonly fact: Fact;
}

export interface FactSearch {
  /** Best first. */
  readonly facts: readonly RankedFact[];
  readonly source: "index" | "database";
  /** Why the index was not used where it should have been; else empty. */
  readonly notice: string;
}

/**
 * Finds facts in the viewer's scope by the words of a question. The database scores what holds them by its postings, those of the rarer
 * words first. Where very many facts hold each of them the index gives candidates, with what it has not taken in yet, and the same
 * statement scores those. With the index away or far behind, the database reads what it can of the rarest word, and the answer says so.
 */
export async function searchFacts(
  ports: SearchPorts,
  viewer: Viewer,
  { query, limit }: FactQuery,
  signal: AbortSignal,
): Promise<FactSearch> {
  signal.throwIfAborted();
  const begun = await ports.store.inScope(viewer, async (scoped) => {
    const asked = await scoped.search.ask("fact", query);
    const isFound = rarestOf(asked) <= ports.index.servesFrom;
    return { asked, isFound, facts: isFound && ports.embedder === undefined ? await rank(scoped, asked, limit) : undefined };
  });
  if (begun.facts !== undefined) return { facts: begun.facts, source: "database", notice: "" };
  const { asked, notice: wordsAlone } = await withQuestionVector(ports.embedder, begun.asked, query, signal);
  if (begun.isFound) {
    const facts = await ports.store.inScope(viewer, (scoped) => rank(scoped, asked, limit));
    return { facts, source: "database", notice: wordsAlone };
  }
  const words = { terms: asked.question.terms, forms: asked.forms.map(({ form }) => form) };
  const indexed = await askIndex(ports.index, viewer, words, signal);
  return ports.store.inScope(viewer, async (scoped) => {
    const { candidates, notice } = await withWaiting(scoped, indexed);
    const facts = await rank(scoped, asked, limit, candidates);
    const notices = [notice, wordsAlone].filter((one) => one !== "").join(" ");
    return { facts, source: candidates === undefined ? "database" : "index", notice: notices };
  });
}

/** How many facts hold the question's rarest word, of those that any does; 0 where none does. */
function rarestOf({ question, frequencies }: AskedCorpora): number {
  const held = question.terms.map((term) => frequencies.get(term) ?? 0).filter((count) => count > 0);
  return held.length === 0 ? 0 : Math.min(...held);
}

async function rank(scoped: ScopedFacts, asked: AskedCorpora, limit: number, candidates?: readonly string[]): Promise<RankedFact[]> {
  if (asked.question.terms.length === 0 && asked.question.actors.length === 0) return [];
  const found = await scoped.search.score(asked, limit, candidates);
  const facts = new Map((await scoped.load(found.map(({ itemId }) => itemId))).map((fact) => [fact.id, fact]));
  return found.flatMap(({ itemId, ...scored }) => {
    const fact = facts.get(itemId);
    return fact === undefined ? [] : [{ fact, ...scored }];
  });
}

/** The index's candidates and what it lacks; none where it did not answer or lacks too much. */
async function withWaiting(facts: ScopedFacts, indexed: Candidates | HlvmError): Promise<{ candidates?: string[]; notice: string }> {
  if (indexed instanceof HlvmError) return { notice: `${indexed.message} PostgreSQL answered instead. ${indexed.advice}` };
  const waiting = await facts.waiting(MAXIMUM_WAITING + 1);
  if (waiting.length > MAXIMUM_WAITING)
    return { notice: "The search index is catching up. PostgreSQL answered instead. Nothing needs to be done." };
  return { candidates: [...new Set([...indexed.ids, ...waiting])], notice: "" };
}

async function askIndex(index: FactIndex, viewer: Viewer, words: AskedWords, signal: AbortSignal): Promise<Candidates | HlvmError> {
  try {
    return await index.candidates(audiencesOf(viewer), words, MAXIMUM_CANDIDATES, signal);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof HlvmError && cause.reason === "index_unavailable") return cause;
    throw cause;
  }
}
