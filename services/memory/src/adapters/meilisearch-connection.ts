import { Meilisearch, MeilisearchApiError, type ExtraRequestInit } from "meilisearch";

export interface MeilisearchAddress {
  readonly url: string;
  readonly key: string;
}

/** Where Meilisearch is; makes a client for each piece of work, since a client's signal and deadline are of all its calls. */
export class MeilisearchConnection {
  readonly #address: MeilisearchAddress;

  constructor(address: MeilisearchAddress) {
    this.#address = address;
  }

  /**
   * A client whose calls fail once the signal is aborted or so much time has passed.
   *
   * Most of the client's methods take no signal of their own, its `timeout` is dropped where one is given, and its wait for
   * a task cannot be cancelled. A signal in `requestInit` reaches every request, which its type leaves out because a
   * client usually outlives a signal.
   */
  client(deadlineMilliseconds: number, signal: AbortSignal): Meilisearch {
    const requestInit: ExtraRequestInit = {
      // Unpacking a compressed answer costs fetch tens of milliseconds.
      headers: { "accept-encoding": "identity" },
      signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMilliseconds)]),
    };
    return new Meilisearch({ host: this.#address.url, apiKey: this.#address.key, requestInit });
  }
}

/** Whether Meilisearch answered that it has no such index. */
export function isIndexMissing(thrown: unknown): boolean {
  return thrown instanceof MeilisearchApiError && thrown.cause?.code === "index_not_found";
}
