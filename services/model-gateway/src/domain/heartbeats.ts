import type { AnswerEvent } from "./generation.ts";

const PAUSE_MILLISECONDS = 5_000;
const ALIVE: readonly AnswerEvent[] = [{ kind: "alive" }];

type Deltas = Promise<readonly AnswerEvent[] | undefined>;

/** An answer that is being read. */
interface AnswerSource {
  /** What comes next; undefined behind the end. */
  next(): Deltas;
  /** Has to be called when nothing more is wanted. */
  close(): Promise<void>;
}

/** Lets the caller of one call hear that it goes on where no delta has come for five seconds. */
export class Heartbeats {
  #toldAt = performance.now();
  #tell: () => void = () => undefined;

  /** To be called for everything that shows that the call goes on. */
  readonly heard = (): void => {
    if (performance.now() - this.#toldAt >= PAUSE_MILLISECONDS) this.#tell();
  };

  /** @param open called when the first delta is asked for */
  async *among(open: () => AnswerSource): AsyncGenerator<AnswerEvent, void> {
    const source = open();
    let next = source.next();
    try {
      for (;;) {
        const events = await this.#orAlive(next);
        if (events === undefined) return;
        this.#toldAt = performance.now();
        for (const each of events) yield each;
        if (events !== ALIVE) next = source.next();
      }
    } finally {
      await next.catch(() => undefined);
      await source.close();
    }
  }

  /** The next deltas, or a heartbeat where one comes before them. */
  #orAlive(next: Deltas): Deltas {
    return new Promise((resolve, reject) => {
      this.#tell = () => resolve(ALIVE);
      next.then(resolve, reject);
    });
  }
}
