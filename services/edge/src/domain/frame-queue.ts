/** Unread of one topic. A single frame may be larger, where it is the only one. */
const MOST_UNREAD_BYTES = 64 * 1024;

interface Waiting<Frame> {
  readonly topic: string;
  readonly frame: Frame;
  readonly bytes: number;
  /** A later frame of its topic says all that it says. */
  readonly isReplaceable: boolean;
}

/**
 * What several topics have for one reader, in order within each topic. No more of a topic is held than 64 KB, so that a reader
 * who is slow, or gone without a word, costs little.
 */
export class FrameQueue<Frame> {
  #waiting: Waiting<Frame>[] = [];
  readonly #unread = new Map<string, number>();
  #changed = Promise.withResolvers<void>();

  /** @returns false, and takes nothing, where the reader has too much of this topic before it */
  push(topic: string, frame: Frame, bytes: number): boolean {
    const unread = this.#unread.get(topic) ?? 0;
    if (unread > 0 && unread + bytes > MOST_UNREAD_BYTES) return false;
    this.#add({ topic, frame, bytes, isReplaceable: false });
    return true;
  }

  /** For what is small and comes once: always taken. */
  pushAlways(topic: string, frame: Frame): void {
    this.#add({ topic, frame, bytes: 0, isReplaceable: false });
  }

  /** In place of what the reader has not read of this topic yet. */
  replace(topic: string, frame: Frame, bytes: number): void {
    this.#waiting = this.#waiting.filter((waiting) => {
      const isOld = waiting.isReplaceable && waiting.topic === topic;
      if (isOld) this.#unread.set(topic, this.#unread.get(topic)! - waiting.bytes);
      return !isOld;
    });
    this.#add({ topic, frame, bytes, isReplaceable: true });
  }

  /** Resolves when the reader has read something, or something was added, or the signal is aborted. */
  async change(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const aborted = Promise.withResolvers<void>();
    const onAbort = (): void => aborted.resolve();
    signal.addEventListener("abort", onAbort, { once: true });
    await Promise.race([this.#changed.promise, aborted.promise]);
    signal.removeEventListener("abort", onAbort);
  }

  take(): Frame | undefined {
    const taken = this.#waiting.shift();
    if (taken === undefined) return undefined;
    this.#unread.set(taken.topic, this.#unread.get(taken.topic)! - taken.bytes);
    this.#wake();
    return taken.frame;
  }

  #add(waiting: Waiting<Frame>): void {
    this.#waiting.push(waiting);
    this.#unread.set(waiting.topic, (this.#unread.get(waiting.topic) ?? 0) + waiting.bytes);
    this.#wake();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
