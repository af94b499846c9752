/**
 * Hands events from whoever makes them to whoever reads them, in order. Its maker bounds what it holds: a tool's output
 * is limited before it comes here.
 */
export class EventQueue<Event> {
  readonly #waiting: Event[] = [];
  #isClosed = false;
  #wake: (() => void) | undefined;

  push(event: Event): void {
    this.#waiting.push(event);
    this.#wake?.();
  }

  /** No more events come; what waits is still read. */
  close(): void {
    this.#isClosed = true;
    this.#wake?.();
  }

  async *read(): AsyncGenerator<Event, void> {
    for (;;) {
      const event = this.#waiting.shift();
      if (event !== undefined) yield event;
      else if (this.#isClosed) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
