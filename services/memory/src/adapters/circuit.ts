import { indexUnavailable, type IndexTrouble } from "./index-unavailable.ts";

/** How long a server that failed is left alone; whoever feeds it tells earlier when it is back. */
const REST_MILLISECONDS = 3_000;

/** Keeps callers from waiting for a search index that has just failed. */
export class Circuit {
  #restUntil = 0;
  #trouble: IndexTrouble = "away";

  /** @throws HlvmError `index_unavailable` while it rests, with what began the rest */
  check(): void {
    if (performance.now() < this.#restUntil) throw indexUnavailable(this.#trouble);
  }

  failed(trouble: IndexTrouble): void {
    this.#trouble = trouble;
    this.#restUntil = performance.now() + REST_MILLISECONDS;
  }

  answered(): void {
    this.#restUntil = 0;
  }
}
