import { indexUnavailable } from "./index-unavailable.ts";

/** How long a server that failed is left alone; whoever feeds it tells earlier when it is back. */
const REST_MILLISECONDS = 3_000;

/** Keeps callers from waiting for a search index that has just failed. */
export class Circuit {
  #restUntil = 0;

  /** @throws HlvmError `index_unavailable` while it rests */
  check(): void {
    if (performance.now() < this.#restUntil) throw indexUnavailable();
  }

  failed(): void {
    this.#restUntil = performance.now() + REST_MILLISECONDS;
  }

  answered(): void {
    this.#restUntil = 0;
  }
}
