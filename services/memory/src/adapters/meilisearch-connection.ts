export interface MeilisearchAddress {
  readonly url: string;
  readonly key: string;
}

/** What Meilisearch answers when it does not do what it was asked. */
export class MeilisearchError extends Error {
  override readonly name = "MeilisearchError";
  /** Meilisearch's own word, for example `index_not_found`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Requests to Meilisearch. The client from npm (0.62) drops its deadline where a request can be cancelled, and a search
 * needs both.
 */
export class MeilisearchConnection {
  readonly #address: MeilisearchAddress;

  constructor(address: MeilisearchAddress) {
    this.#address = address;
  }

  /**
   * @throws MeilisearchError what Meilisearch answered
   * @throws Error it did not answer, or the signal or the deadline came first
   */
  async request<T>(
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    body: unknown,
    deadlineMilliseconds: number,
    signal: AbortSignal,
  ): Promise<T> {
    const init: RequestInit = {
      method,
      headers: {
        authorization: `Bearer ${this.#address.key}`,
        "content-type": "application/json",
        // Unpacking a compressed answer costs fetch tens of milliseconds.
        "accept-encoding": "identity",
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMilliseconds)]),
    };
    const response = await fetch(`${this.#address.url}${path}`, init);
    const answer = (await response.json()) as T & { readonly code?: string; readonly message?: string };
    if (!response.ok) throw new MeilisearchError(answer.code ?? "", answer.message ?? `HTTP status ${response.status}`);
    return answer;
  }
}

/** Whether Meilisearch answered that it has no such index. */
export function isIndexMissing(thrown: unknown): boolean {
  return thrown instanceof MeilisearchError && thrown.code === "index_not_found";
}
