/** That nothing of a run is going on but calls that wait for a person's answer. */
export interface PersonWait {
  /** When the first of the questions expires. */
  readonly until: Date;
  /** When the first of the calls began to wait, by the clock of `performance`. */
  readonly since: number;
}

/** Sees when nothing of a run is going on but calls that wait for a person's answer, and says so when that has lasted. */
export class CallWaits implements Disposable {
  readonly #milliseconds: number;
  readonly #park: (wait: PersonWait) => boolean;
  readonly #waits = new Set<PersonWait>();
  #calls = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param milliseconds how long it has to last
   * @param park is asked again after this time where it declines
   */
  constructor(milliseconds: number, park: (wait: PersonWait) => boolean) {
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

  /**
   * What of a call is the waiting for an answer, where another process could go on with it.
   * @param until when the question expires
   */
  async answer<T>(until: Date, work: () => Promise<T>): Promise<T> {
    const wait = { until, since: performance.now() };
    this.#waits.add(wait);
    this.#look();
    try {
      return await work();
    } finally {
      this.#waits.delete(wait);
      this.#look();
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    clearTimeout(this.#timer);
    if (this.#calls === 0 || this.#waits.size < this.#calls) return;
    const waits = [...this.#waits];
    const until = new Date(Math.min(...waits.map((wait) => wait.until.getTime())));
    const since = Math.min(...waits.map((wait) => wait.since));
    this.#timer = setTimeout(() => this.#park({ until, since }) || this.#look(), this.#milliseconds);
  }
}
