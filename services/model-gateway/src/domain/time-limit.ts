import type { ModelError } from "./model-error.ts";

/**
 * A signal that is aborted with its caller's, or when its time is over. It does what AbortSignal.any and AbortSignal.timeout do
 * together, at a fraction of their cost for every call, and says which of the two it was.
 */
export class TimeLimit {
  readonly caller: AbortSignal;
  readonly #ended = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #exceeded: ModelError | undefined;

  /** @param exceeded makes the error that the time's end stands for */
  constructor(caller: AbortSignal, milliseconds: number, exceeded: () => ModelError) {
    this.caller = caller;
    this.#timer = setTimeout(() => {
      this.#exceeded = exceeded();
      this.#ended.abort(this.#exceeded);
    }, milliseconds);
    if (caller.aborted) this.#leave();
    else caller.addEventListener("abort", this.#leave, { once: true });
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Set once the time is over. */
  get exceeded(): ModelError | undefined {
    return this.#exceeded;
  }

  /** The time begins anew. */
  renew(): void {
    this.#timer.refresh();
  }

  /** Has to be called when what it limits is done. */
  close(): void {
    clearTimeout(this.#timer);
    this.caller.removeEventListener("abort", this.#leave);
  }

  readonly #leave = (): void => this.#ended.abort(this.caller.reason);
}
