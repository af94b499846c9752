/** A bounded queue between those who write messages and the one who reads them. */
export class MessageQueue<Message> implements AsyncIterable<Message> {
  readonly #maximum: number;
  readonly #messages: Message[] = [];
  #waitingReader: PromiseWithResolvers<void> | undefined;
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
    this.#waitingReader?.resolve();
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
    this.#waitingReader?.resolve();
    this.#letWrite();
  }

  /** The reader gets what was written before, and then this error. */
  fail(error: unknown): void {
    if (this.#isEnded) return;
    this.#failure = { error };
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Message, void> {
    try {
      for (;;) {
        while (this.#messages.length > 0) {
          const message = this.#messages.shift()!;
          if (!this.isFull) this.#letWrite();
          yield message;
        }
        if (this.#failure !== undefined) throw this.#failure.error;
        if (this.#isEnded) return;
        this.#waitingReader = Promise.withResolvers();
        await this.#waitingReader.promise;
        this.#waitingReader = undefined;
      }
    } finally {
      this.end();
    }
  }

  #letWrite(): void {
    for (const room of this.#waitingWriters.splice(0)) room.resolve();
  }
}
