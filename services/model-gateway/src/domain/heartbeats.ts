import type { Told } from "./generation.ts";

const PAUSE_MILLISECONDS = 5_000;
const ALIVE: Told = { kind: "alive" };

/** Lets the caller of one call hear that it goes on where no delta has come for five seconds. */
export class Heartbeats {
  #toldAt = performance.now();
  #tell: () => void = () => undefined;

  /** To be called for everything that shows that the call goes on. */
  readonly heard = (): void => {
    if (performance.now() - this.#toldAt >= PAUSE_MILLISECONDS) this.#tell();
  };

  async *among(deltas: AsyncIterable<Told>): AsyncGenerator<Told, void> {
    const iterator = deltas[Symbol.asyncIterator]();
    try {
      let next = iterator.next();
      for (;;) {
        const come = await this.#orAlive(next);
        if (come.done) return;
        this.#toldAt = performance.now();
        yield come.value;
        if (come.value !== ALIVE) next = iterator.next();
      }
    } finally {
      await iterator.return?.();
    }
  }

  /** The next delta, or a heartbeat where one comes before it. */
  #orAlive(next: Promise<IteratorResult<Told, void>>): Promise<IteratorResult<Told, void>> {
    return new Promise((resolve, reject) => {
      this.#tell = () => resolve({ done: false, value: ALIVE });
      next.then(resolve, reject);
    });
  }
}
