import type { AnswerEvent } from "./generation.ts";

const PAUSE_MILLISECONDS = 5_000;
const ALIVE: AnswerEvent = { kind: "alive" };

type Next = IteratorResult<AnswerEvent, void>;

/** An answer that is being read. */
interface AnswerSource {
  /** What comes next; undefined behind the end. */
  next(): Promise<readonly AnswerEvent[] | undefined>;
  /** Has to be called when nothing more is wanted. */
  close(): Promise<void>;
}

/**
 * The events of one answer; where none has come for five seconds, and it was heard that the call goes on, its caller hears that, too.
 * It is no generator, since that makes three promises of each event.
 */
export class AnswerWithHeartbeats implements AsyncIterableIterator<AnswerEvent, void> {
  readonly #open: (heard: () => void) => AnswerSource;
  readonly #events: AnswerEvent[] = [];
  #source: AnswerSource | undefined;
  #asked: Promise<readonly AnswerEvent[] | undefined> | undefined;
  #closed: Promise<void> | undefined;
  #end: { readonly failure?: { readonly thrown: unknown } } | undefined;
  #reader: PromiseWithResolvers<Next> | undefined;
  #lastEventAt = performance.now();

  /** @param open called when the first event is asked for, with what has to be called for everything that shows that the call goes on */
  constructor(open: (heard: () => void) => AnswerSource) {
    this.#open = open;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Next> {
    const reader = Promise.withResolvers<Next>();
    this.#reader = reader;
    if (this.#events.length > 0 || this.#end !== undefined) this.#serve();
    else if (this.#asked === undefined) this.#ask();
    return reader.promise;
  }

  async return(): Promise<Next> {
    await this.#asked?.catch(() => undefined);
    await this.#close();
    this.#events.length = 0;
    this.#end ??= {};
    return { done: true, value: undefined };
  }

  #ask(): void {
    try {
      this.#source ??= this.#open(this.#heard);
      this.#asked = this.#source.next();
      this.#asked.then(this.#take, this.#fail);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  readonly #heard = (): void => {
    if (performance.now() - this.#lastEventAt < PAUSE_MILLISECONDS || this.#reader === undefined) return;
    this.#events.push(ALIVE);
    this.#serve();
  };

  readonly #take = (events: readonly AnswerEvent[] | undefined): void => {
    this.#asked = undefined;
    if (events === undefined) return this.#finish();
    this.#events.push(...events);
    this.#serve();
  };

  readonly #fail = (thrown: unknown): void => this.#finish({ thrown });

  #finish(failure?: { readonly thrown: unknown }): void {
    const end = (ended: typeof failure): void => {
      this.#end = ended === undefined ? {} : { failure: ended };
      this.#serve();
    };
    this.#close().then(
      () => end(failure),
      (thrown: unknown) => end({ thrown }),
    );
  }

  #close(): Promise<void> {
    return (this.#closed ??= this.#source?.close() ?? Promise.resolve());
  }

  /** Whoever reads gets what there is. */
  #serve(): void {
    const reader = this.#reader;
    if (reader === undefined) return;
    this.#reader = undefined;
    const value = this.#events.shift();
    this.#lastEventAt = performance.now();
    if (value !== undefined) reader.resolve({ done: false, value });
    else if (this.#end?.failure !== undefined) reader.reject(this.#end.failure.thrown);
    else reader.resolve({ done: true, value });
  }
}
