/** What of a counter's bookkeeping is kept of clients that ask for nothing at the moment. */
const REMEMBERED_CLIENTS = 1_000;

/**
 * How much each client has had, in weighted tokens: the virtual token counters of Sheng and others, "Fairness in Serving Large
 * Language Models" (2024). The client that has had least is served next.
 */
export class TokenCounters {
  readonly #counters = new Map<string, number>();
  /** That of the client that was served last: where nobody else waits, a client that comes back begins there. */
  #latest = 0;

  /**
   * A client begins to wait. Time in which it asked for nothing gives it no credit: it is lifted to the least of those that
   * wait already.
   * @param waiting every other client that waits
   */
  lift(client: string, waiting: Iterable<string>): void {
    const least = Math.min(...[...waiting].map((each) => this.of(each)));
    const counter = Math.max(this.of(client), Number.isFinite(least) ? least : this.#latest);
    this.#counters.delete(client);
    this.#counters.set(client, counter);
    for (const each of this.#counters.keys()) {
      if (this.#counters.size <= REMEMBERED_CLIENTS) break;
      this.#counters.delete(each);
    }
  }

  charge(client: string, tokens: number): void {
    const counter = this.of(client) + tokens;
    this.#counters.set(client, counter);
    this.#latest = counter;
  }

  of(client: string): number {
    return this.#counters.get(client) ?? 0;
  }
}
