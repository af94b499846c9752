import { MeilisearchError, type EnqueuedTaskPromise, type Index } from "meilisearch";
import { FACT_INDEX, type FactDocument } from "./fact-document.ts";
import { isIndexMissing, type MeilisearchConnection } from "./meilisearch-connection.ts";

const REQUEST_DEADLINE_MILLISECONDS = 5_000;
const TASK_DEADLINE_MILLISECONDS = 10_000;
/** The client's own deadline is switched off: its timer outlives a wait that fails, and holds the process. */
const TASK_POLL = { interval: 20, timeout: 0 };
/** Counts of facts, and so the weights of terms, are exact up to this. */
const MAXIMUM_COUNT = 100_000;

/** Changes the index and waits until a search sees the change. */
export class MeilisearchFactWriter {
  readonly #connection: MeilisearchConnection;
  readonly #closing = new AbortController();

  constructor(connection: MeilisearchConnection) {
    this.#connection = connection;
  }

  /** Ends what is under way. */
  close(): void {
    this.#closing.abort();
  }

  async isMissing(): Promise<boolean> {
    try {
      await this.#index().getRawInfo();
      return false;
    } catch (cause) {
      if (isIndexMissing(cause)) return true;
      throw cause;
    }
  }

  /** Makes the index; in one step with its settings, so that there is never one without. */
  async create(): Promise<void> {
    await this.#change((index) =>
      index.updateSettings({
        searchableAttributes: ["stems"],
        filterableAttributes: ["audience"],
        displayedAttributes: ["id"],
        rankingRules: ["words"],
        typoTolerance: { enabled: false },
        prefixSearch: "disabled",
        facetSearch: false,
        proximityPrecision: "byAttribute",
        pagination: { maxTotalHits: MAXIMUM_COUNT },
      }),
    );
  }

  async put(documents: FactDocument[]): Promise<void> {
    if (documents.length > 0) await this.#change((index) => index.addDocuments(documents, { primaryKey: "id" }));
  }

  async remove(ids: string[]): Promise<void> {
    if (ids.length > 0) await this.#change((index) => index.deleteDocuments(ids));
  }

  async #change(begin: (index: Index<FactDocument>) => EnqueuedTaskPromise): Promise<void> {
    const { taskUid } = await begin(this.#index());
    const { tasks } = this.#connection.client(TASK_DEADLINE_MILLISECONDS, this.#closing.signal);
    const { status, error } = await tasks.waitForTask(taskUid, TASK_POLL);
    if (status !== "succeeded")
      throw new MeilisearchError(`Task ${taskUid} of Meilisearch ${status}: ${error?.message ?? "no reason given"}`);
  }

  #index(): Index<FactDocument> {
    return this.#connection.client(REQUEST_DEADLINE_MILLISECONDS, this.#closing.signal).index(FACT_INDEX);
  }
}
