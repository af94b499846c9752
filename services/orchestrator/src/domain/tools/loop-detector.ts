/** Notices a model that repeats itself: the same tool with the same arguments, again and again. */
export class LoopDetector {
  readonly #allowedInARow: number;
  #last = "";
  #inARow = 0;
  #wasWarned = false;

  /** @param allowedInARow how often in a row the very same call is let through */
  constructor(allowedInARow: number) {
    this.#allowedInARow = allowedInARow;
  }

  /** @returns `warn` for the first call too many, `stop` for the next one */
  see(tool: string, argumentsJson: string): "run" | "warn" | "stop" {
    const call = `${tool} ${argumentsJson}`;
    this.#inARow = call === this.#last ? this.#inARow + 1 : 1;
    this.#last = call;
    if (this.#inARow <= this.#allowedInARow) return "run";
    if (this.#wasWarned) return "stop";
    this.#wasWarned = true;
    return "warn";
  }
}
