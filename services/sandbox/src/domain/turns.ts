/** Those that wait for the same thing, let go on one after the other. */
export class Turns {
  readonly #waiting = new Set<() => void>();

  /** Has the one go on that has waited longest. */
  next(): void {
    const [first] = this.#waiting;
    first?.();
  }

  /** Resolves when its turn has come, or after so many milliseconds. */
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
