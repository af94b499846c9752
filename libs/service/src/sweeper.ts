import type { Log } from "@hlvm/log/create-log";

/** Does a piece of work again and again, one at a time; a failure is logged once until it works again. */
export class Sweeper {
  readonly #timer: NodeJS.Timeout;
  #sweeping: Promise<void> | undefined;
  #isFailing = false;

  constructor(sweep: () => Promise<void>, intervalMilliseconds: number, log: Log) {
    this.#timer = setInterval(() => {
      this.#sweeping ??= this.#sweepOnce(sweep, log);
    }, intervalMilliseconds);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
  }

  async #sweepOnce(sweep: () => Promise<void>, log: Log): Promise<void> {
    try {
      await sweep();
      this.#isFailing = false;
    } catch (cause) {
      if (!this.#isFailing) log.warn({ err: cause }, "a recurring task failed; it is tried again");
      this.#isFailing = true;
    } finally {
      this.#sweeping = undefined;
    }
  }
}
