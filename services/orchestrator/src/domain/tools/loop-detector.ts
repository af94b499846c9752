/** How often in a row the very same call is let through. */
const ALLOWED_IN_A_ROW = 2;

/** Notices a model that repeats itself: the same tool with the same arguments, again and again. */
export class LoopDetector {
  #last = "";
  #inARow = 0;
  #wasWarned = false;

  /** @returns `warn` for the first call too many, `stop` for the next one */
  see(tool: string, argumentsJson: string): "run" | "warn" | "stop" {
    const call = `${tool} ${argumentsJson}`;
    this.#inARow = call === this.#last ? this.#inARow + 1 : 1;
    this.#last = call;
    if (this.#inARow <= ALLOWED_IN_A_ROW) return "run";
    if (this.#wasWarned) return "stop";
    this.#wasWarned = true;
    return "warn";
  }
}
