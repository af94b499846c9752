/** Sees when nothing of a run is going on but calls that wait for a person's answer, and says so when that has lasted. */
export class CallWaits implements Disposable {
  readonly #milliseconds: number;
  readonly #park: (until: Date) => boolean;
  readonly #expiries = new Set<Date>();
  #calls = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param milliseconds how long it has to last
   * @param park is told when the first of the questions expires, and is asked again after this time where it declines
   */
  constructor(milliseconds: number, park: (until: Date) => boolean) {
    this.#milliseconds = milliseconds;
    this.#park = park;
  }

  /** A call of the run, from its beginning to its result. */
  async call<T>(work: () => Promise<T>): Promise<T> {
    this.#calls++;
    this.#look();
    try {
      return await work();
    } finally {
      this.#calls--;
      this.#look();
    }
  }

  /** What of a call is the waiting for an answer. @param expires of the question */
  async answer<T>(expires: Date, work: () => Promise<T>): Promise<T> {
    // The same moment may be that of several.
    const expiry = new Date(expires);
    this.#expiries.add(expiry);
    this.#look();
    try {
      return await work();
    } finally {
      this.#expiries.delete(expiry);
      this.#look();
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    clearTimeout(this.#timer);
    if (this.#calls === 0 || this.#expiries.size < this.#calls) return;
    const first = new Date(Math.min(...[...this.#expiries].map((expiry) => expiry.getTime())));
    this.#timer = setTimeout(() => {
      if (!this.#park(first)) this.#look();
    }, this.#milliseconds);
  }
}
