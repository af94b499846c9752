import { setTimeout as delay } from "node:timers/promises";
import { FACT_INDEX, type FactDocument } from "./fact-document.ts";
import { isIndexMissing, MeilisearchError, type MeilisearchConnection } from "./meilisearch-connection.ts";

const REQUEST_DEADLINE_MILLISECONDS = 5_000;
const TASK_DEADLINE_MILLISECONDS = 10_000;
const TASK_POLL_MILLISECONDS = 20;
/** Counts of facts, and so the weights of terms, are exact up to this. */
const MAXIMUM_COUNT = 100_000;

interface Task {
  readonly status: "enqueued" | "processing" | "succeeded" | "failed" | "canceled";
  readonly error: { readonly code: string; readonly message: string } | null;
}

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
      await this.#request("GET", `/indexes/${FACT_INDEX}`);
      return false;
    } catch (cause) {
      if (isIndexMissing(cause)) return true;
      throw cause;
    }
  }

  /** Makes the index; in one step with its settings, so that there is never one without. */
  async create(): Promise<void> {
    await this.#change("PATCH", `/indexes/${FACT_INDEX}/settings`, {
      searchableAttributes: ["stems"],
      filterableAttributes: ["audience"],
      displayedAttributes: ["id"],
      rankingRules: ["words"],
      typoTolerance: { enabled: false },
      prefixSearch: "disabled",
      facetSearch: false,
      proximityPrecision: "byAttribute",
      pagination: { maxTotalHits: MAXIMUM_COUNT },
    });
  }

  async put(documents: readonly FactDocument[]): Promise<void> {
    if (documents.length > 0) await this.#change("POST", `/indexes/${FACT_INDEX}/documents?primaryKey=id`, documents);
  }

  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#change("POST", `/indexes/${FACT_INDEX}/documents/delete-batch`, ids);
  }

  async #change(method: "POST" | "PATCH", path: string, body: unknown): Promise<void> {
    const { taskUid } = await this.#request<{ taskUid: number }>(method, path, body);
    const deadline = performance.now() + TASK_DEADLINE_MILLISECONDS;
    while (performance.now() < deadline) {
      const task = await this.#request<Task>("GET", `/tasks/${taskUid}`);
      if (task.status === "succeeded") return;
      if (task.error !== null) throw new MeilisearchError(task.error.code, task.error.message);
      await delay(TASK_POLL_MILLISECONDS, undefined, { signal: this.#closing.signal });
    }
    throw new Error(`Meilisearch did not finish task ${taskUid} in ${TASK_DEADLINE_MILLISECONDS / 1000} s`);
  }

  #request<T>(method: "GET" | "POST" | "PATCH", path: string, body?: unknown): Promise<T> {
    return this.#connection.request<T>(method, path, body, REQUEST_DEADLINE_MILLISECONDS, this.#closing.signal);
  }
}
