import { setTimeout as sleep } from "node:timers/promises";

/** A run that was stopped waits so long for what is still being written: a person looks on, and a service wants to end. */
const SETTLE_MILLISECONDS = 1_500;

/** What a run has begun to put on record: entries of its log, outcomes in the audit log. */
export class Records {
  #all: Promise<unknown> = Promise.resolve();

  add(...begun: readonly Promise<unknown>[]): void {
    this.#all = Promise.all([this.#all, ...begun]);
    this.#all.catch(() => undefined);
  }

  /** Resolves when everything added so far is on record; rejects with what went wrong first. */
  get written(): Promise<unknown> {
    return this.#all;
  }

  /** The same at the end of a run: once it is stopped, for a short while only. */
  async settle(signal: AbortSignal): Promise<void> {
    const settled = new AbortController();
    const stopped = new Promise<void>((resolve) => {
      const wait = (): void => void sleep(SETTLE_MILLISECONDS, undefined, { signal: settled.signal }).then(resolve, () => undefined);
      if (signal.aborted) wait();
      else signal.addEventListener("abort", wait, { once: true, signal: settled.signal });
    });
    try {
      await Promise.race([this.#all, stopped]);
    } finally {
      settled.abort();
    }
  }
}
