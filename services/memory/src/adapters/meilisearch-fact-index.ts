import type { Log } from "@hlvm/log/create-log";
import type { MultiSearchQuery } from "meilisearch";
import type { Candidates } from "../domain/candidates.ts";
import type { AskedWords, FactIndex } from "../domain/fact-index.ts";
import { inverseFrequency } from "../domain/search/found-item.ts";
import type { Circuit } from "./circuit.ts";
import { FACT_INDEX, type FactDocument } from "./fact-document.ts";
import { indexUnavailable, type IndexTrouble } from "./index-unavailable.ts";
import { isIndexMissing, type MeilisearchConnection } from "./meilisearch-connection.ts";

/** A search takes 5 ms where all is well; a person waits for this answer. */
const DEADLINE_MILLISECONDS = 500;
/** Of a term that more facts hold than this, the weight is so small that any of them will do. */
const MAXIMUM_HITS_A_TERM = 1_000;

/** The client's type leaves the count open; a query that asks for no page always has it. */
interface Found {
  readonly hits: readonly Pick<FactDocument, "id">[];
  readonly estimatedTotalHits: number;
}

/**
 * Candidates from Meilisearch: one sub-query a term in one request, since its own ranking of several words loses most of
 * what is relevant, and the sum of the terms' weights here. A further one finds what holds all terms: of a common word only some
 * facts come, and those with all of them need not be among these.
 */
export class MeilisearchFactIndex implements FactIndex {
  readonly #connection: MeilisearchConnection;
  readonly #circuit: Circuit;
  readonly #log: Log;
  readonly #onMissing: () => void;
  readonly servesFrom: number;
  #isFailing = false;

  /**
   * @param onMissing called when the index is gone and has to be filled again
   * @param servesFrom it is asked where more facts than this hold each word of a question
   */
  constructor(connection: MeilisearchConnection, circuit: Circuit, log: Log, onMissing: () => void, servesFrom: number) {
    this.#connection = connection;
    this.#circuit = circuit;
    this.#log = log;
    this.#onMissing = onMissing;
    this.servesFrom = servesFrom;
  }

  async candidates(audiences: readonly string[], { terms, forms }: AskedWords, limit: number, signal: AbortSignal): Promise<Candidates> {
    this.#circuit.check();
    const common = { indexUid: FACT_INDEX, filter: `audience IN [${audiences.map((audience) => `"${audience}"`).join(", ")}]` };
    const everything = { ...common, q: "", limit: 0 };
    const queries = forms.map((form) => ({ ...common, q: form, limit: MAXIMUM_HITS_A_TERM, attributesToRetrieve: ["id"] }));
    const together = { ...common, q: terms.join(" "), matchingStrategy: "all" as const, limit, attributesToRetrieve: ["id"] };
    const [all, whole, ...found] = await this.#search([everything, together, ...queries], signal);
    const total = all!.estimatedTotalHits;
    const weights = new Map<string, number>();
    let sum = 0;
    for (const { hits, estimatedTotalHits } of found) {
      const weight = inverseFrequency(total, estimatedTotalHits);
      sum += weight;
      for (const { id } of hits) weights.set(id, (weights.get(id) ?? 0) + weight);
    }
    for (const { id } of whole!.hits) weights.set(id, sum);
    return {
      ids: [...weights]
        .sort((a, b) => b[1] - a[1])
        .slice(0, limit)
        .map(([id]) => id),
    };
  }

  async #search(queries: MultiSearchQuery[], signal: AbortSignal): Promise<readonly Found[]> {
    try {
      const client = this.#connection.client(DEADLINE_MILLISECONDS, signal);
      const { results } = await client.multiSearch({ queries });
      this.#circuit.answered();
      this.#isFailing = false;
      return results as unknown as readonly Found[];
    } catch (cause) {
      const trouble = troubleOf(cause);
      if (trouble === "filling") this.#onMissing();
      else if (!signal.aborted) this.#circuit.failed(trouble);
      if (!signal.aborted) this.#logOnce(cause);
      throw indexUnavailable(trouble, cause);
    }
  }

  /** Every search fails while the index is away; the first says why. */
  #logOnce(cause: unknown): void {
    if (!this.#isFailing) this.#log.warn({ err: cause }, "the search index gives no answer; the database searches in its place");
    this.#isFailing = true;
  }
}

function troubleOf(cause: unknown): IndexTrouble {
  if (isIndexMissing(cause)) return "filling";
  // The client gives what fetch throws as the cause of an error of its own.
  const reasons = [cause, cause instanceof Error ? cause.cause : undefined];
  return reasons.some((reason) => reason instanceof DOMException && reason.name === "TimeoutError") ? "busy" : "away";
}
