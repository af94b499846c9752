type Next<Message> = IteratorResult<Message, void>;

/**
 * A bounded queue between those who write messages and the one who reads them. Its reader gets each with one promise, where a
 * generator makes three.
 */
export class MessageQueue<Message> implements AsyncIterable<Message> {
  readonly #maximum: number;
  readonly #messages: Message[] = [];
  #waitingReader: PromiseWithResolvers<Next<Message>> | undefined;
  #waitingWriters: PromiseWithResolvers<void>[] = [];
  #isEnded = false;
  #failure: { readonly error: unknown } | undefined;

  /** @param maximum messages that nobody has read; then writers wait */
  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  get isFull(): boolean {
    return this.#messages.length >= this.#maximum;
  }

  /** What comes after the end is dropped. @returns when there is room for the next one; undefined where there is */
  push(message: Message): Promise<void> | undefined {
    if (this.#isEnded) return undefined;
    this.#messages.push(message);
    this.#serve();
    if (!this.isFull) return undefined;
    const room = Promise.withResolvers<void>();
    this.#waitingWriters.push(room);
    return room.promise;
  }

  /** Those that wait, from the first on, up to one that shall not be taken. */
  takeWhile(isTaken: (message: Message) => boolean): Message[] {
    const end = this.#messages.findIndex((message) => !isTaken(message));
    const taken = this.#messages.splice(0, end === -1 ? this.#messages.length : end);
    if (!this.isFull) this.#letWrite();
    return taken;
  }

  /** The reader still gets what was written before. */
  end(): void {
    this.#isEnded = true;
    this.#serve();
    this.#letWrite();
  }

  /** The reader gets what was written before, and then this error. */
  fail(error: unknown): void {
    if (this.#isEnded) return;
    this.#failure = { error };
    this.end();
  }

  [Symbol.asyncIterator](): AsyncIterator<Message, void> {
    return {
      next: () => {
        const reader = Promise.withResolvers<Next<Message>>();
        this.#waitingReader = reader;
        this.#serve();
        return reader.promise;
      },
      return: () => {
        this.end();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  #serve(): void {
    const reader = this.#waitingReader;
    if (reader === undefined) return;
    if (this.#messages.length > 0) {
      reader.resolve({ done: false, value: this.#messages.shift()! });
      if (!this.isFull) this.#letWrite();
    } else if (this.#failure !== undefined) reader.reject(this.#failure.error);
    else if (this.#isEnded) reader.resolve({ done: true, value: undefined });
    else return;
    this.#waitingReader = undefined;
  }

  #letWrite(): void {
    for (const room of this.#waitingWriters.splice(0)) room.resolve();
  }
}
