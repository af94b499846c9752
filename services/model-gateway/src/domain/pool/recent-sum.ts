/** After so long a value counts for half. */
const HALF_LIFE_MILLISECONDS = 60_000;

/** A sum in which what was added long ago counts less and less. */
export class RecentSum {
  #sum = 0;
  #at = 0;

  add(value: number, now: number): void {
    this.#sum = this.value(now) + value;
    this.#at = now;
  }

  value(now: number): number {
    return this.#sum * 0.5 ** ((now - this.#at) / HALF_LIFE_MILLISECONDS);
  }
}
