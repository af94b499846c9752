/** How much the latest value counts. */
const LATEST = 0.3;

/** A mean in which what was long ago counts less and less. */
export class RunningMean {
  #mean: number | undefined;

  note(value: number): void {
    this.#mean = this.#mean === undefined ? value : this.#mean + LATEST * (value - this.#mean);
  }

  /** @param unknown what it is while nothing was noted */
  value(unknown: number): number {
    return this.#mean ?? unknown;
  }
}
