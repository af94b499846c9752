import type { Log } from "@hlvm/log/create-log";

/** Does a piece of work again and again, one at a time; a failure is logged once until it works again. */
export class Sweeper {
  readonly #timer: NodeJS.Timeout;
  readonly #sweep: () => Promise<void>;
  readonly #log: Log;
  #sweeping: Promise<void> | undefined;
  #isDue = false;
  #isClosed = false;
  #isFailing = false;

  constructor(sweep: () => Promise<void>, intervalMilliseconds: number, log: Log) {
    this.#sweep = sweep;
    this.#log = log;
    this.#timer = setInterval(() => void (this.#sweeping ??= this.#sweepOnce()), intervalMilliseconds);
    this.#timer.unref();
  }

  /** Has it done now, and once more where it is under way: something has come that it may have missed. */
  hurry(): void {
    if (this.#isClosed) return;
    this.#isDue = this.#sweeping !== undefined;
    this.#sweeping ??= this.#sweepOnce();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#sweeping;
  }

  async #sweepOnce(): Promise<void> {
    try {
      do {
        this.#isDue = false;
        await this.#sweep();
      } while (this.#isDue && !this.#isClosed);
      this.#isFailing = false;
    } catch (cause) {
      if (!this.#isFailing) this.#log.warn({ err: cause }, "a recurring task failed; it is tried again");
      this.#isFailing = true;
    } finally {
      this.#sweeping = undefined;
    }
  }
}
