/** Those that wait for the same thing, woken one after the other. */
export class Waiters {
  readonly #waiting = new Set<() => void>();

  /** Wakes the one that has waited longest. */
  wakeOne(): void {
    const [first] = this.#waiting;
    first?.();
  }

  /** Resolves when it is woken, or after so many milliseconds. */
  async wait(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const go = (): void => {
      this.#waiting.delete(go);
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(go, milliseconds);
    this.#waiting.add(go);
    await promise;
  }
}
