import { setTimeout as sleep } from "node:timers/promises";

const PAUSE_MILLISECONDS = 25;

/** What llama-servers say of their slots and of their own queues, asked again and again. */
export class WatchedServers {
  /** Of each server, as it said last. */
  processing: readonly number[] = [];
  /** Requests that waited in a server, which had no slot for them. */
  mostDeferred = 0;
  /** Of one server. */
  mostProcessing = 0;
  /** Of all servers. */
  mostTogether = 0;
  readonly #urls: readonly string[];
  readonly #watching: Promise<void>;
  #isOver = false;

  constructor(urls: readonly string[]) {
    this.#urls = urls;
    this.#watching = this.#watch();
  }

  forget(): void {
    this.mostDeferred = this.mostProcessing = this.mostTogether = 0;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#watching;
  }

  async #watch(): Promise<void> {
    while (!this.#isOver) {
      const said = await Promise.all(this.#urls.map(metrics));
      this.processing = said.map(({ processing }) => processing);
      this.mostDeferred = Math.max(this.mostDeferred, ...said.map(({ deferred }) => deferred));
      this.mostProcessing = Math.max(this.mostProcessing, ...this.processing);
      this.mostTogether = Math.max(
        this.mostTogether,
        this.processing.reduce((sum, each) => sum + each, 0),
      );
      await sleep(PAUSE_MILLISECONDS);
    }
  }
}

async function metrics(url: string): Promise<{ readonly processing: number; readonly deferred: number }> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const valueOf = (name: string): number => Number(new RegExp(`^llamacpp:${name} (\\S+)`, "m").exec(text)?.[1]);
  return { processing: valueOf("requests_processing"), deferred: valueOf("requests_deferred") };
}
