/**
 * Joins small pieces of text that come fast into few: the first goes out after a short wait, or at once, the following
 * at most once an interval. A piece of another kind sends out what waits, so that the order is kept.
 */
export class Coalescer<Kind> {
  readonly #interval: number;
  readonly #firstWait: number;
  readonly #emit: (kind: Kind, text: string) => void;
  #kind: Kind | undefined;
  #text = "";
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param intervalMilliseconds the least time between two pieces
   * @param firstWaitMilliseconds how long the first piece may wait for more
   */
  constructor(intervalMilliseconds: number, firstWaitMilliseconds: number, emit: (kind: Kind, text: string) => void) {
    this.#interval = intervalMilliseconds;
    this.#firstWait = firstWaitMilliseconds;
    this.#emit = emit;
  }

  push(kind: Kind, text: string): void {
    if (text === "") return;
    if (this.#kind !== kind) this.#send();
    this.#kind = kind;
    this.#text += text;
    if (this.#timer !== undefined) return;
    if (this.#firstWait === 0) this.#send();
    this.#timer = setTimeout(() => this.#tick(), this.#firstWait || this.#interval);
  }

  /** Sends out what waits and stops waiting. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#send();
  }

  #tick(): void {
    this.#timer = this.#text === "" ? undefined : setTimeout(() => this.#tick(), this.#interval);
    this.#send();
  }

  #send(): void {
    const text = this.#text;
    this.#text = "";
    if (text !== "") this.#emit(this.#kind!, text);
  }
}
