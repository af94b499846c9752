import { HlvmError } from "@hlvm/errors/hlvm-error";
import { notResumable } from "./not-resumable.ts";

/** Beside its own bytes. */
const BYTES_OF_PIECE = 128;

/** What comes of an answer: a piece with its size and the digest of everything up to it, or a sign of life. */
export type Coming<Value> = { readonly value: Value; readonly bytes: number; readonly digest: number } | "alive";

/** In an answer: after the piece of this number, from 1, with the digest of everything up to it. */
export interface Place {
  readonly sequence: number;
  readonly digest: number;
}

export const BEGINNING: Place = { sequence: 0, digest: 0 };

export interface Piece<Value> extends Place {
  readonly value: Value;
}

interface Kept<Value> extends Piece<Value> {
  readonly bytes: number;
}

export interface Memory {
  /** Bytes that came or, below 0, went. @returns whether there is room for more */
  readonly note: (bytes: number) => boolean;
}

/**
 * A model's answer, read whether or not somebody reads along. Its latest pieces are kept for a reader whose connection was lost;
 * those that nobody has read are never dropped: the answer waits where they are too many.
 */
export class KeptAnswer<Value> {
  readonly #limit: number;
  readonly #memory: Memory;
  readonly #kept: Kept<Value>[] = [];
  #bytes = 0;
  #unreadBytes = 0;
  #last: number;
  #droppedDigest: number;
  #isDropped = false;
  /** Of the last piece that a reader got. */
  #given: number;
  #reader = 0;
  #isAlive = false;
  #ended: { readonly failure?: unknown } | undefined;
  #coming = Promise.withResolvers<void>();
  #room = Promise.withResolvers<void>();

  /** @param limit bytes; half of them may be unread */
  constructor(limit: number, memory: Memory, start: Place) {
    this.#last = this.#given = start.sequence;
    this.#droppedDigest = start.digest;
    this.#limit = limit;
    this.#memory = memory;
  }

  get isEnded(): boolean {
    return this.#ended !== undefined;
  }

  get hasReader(): boolean {
    return this.#reader % 2 === 1;
  }

  /** Never rejects: whoever reads the answer is told its failure. */
  async fill(coming: AsyncIterable<Coming<Value>>, signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.#room.resolve(), { once: true });
    try {
      for await (const come of coming) {
        if (come === "alive") this.#isAlive = true;
        else this.#add(come);
        this.#wake();
        while (this.#unreadBytes > this.#limit / 2 && !signal.aborted) await this.#forRoom();
        if (signal.aborted) break;
      }
      this.#ended = signal.aborted ? { failure: signal.reason as unknown } : {};
    } catch (failure) {
      this.#ended = { failure };
    }
    this.#wake();
  }

  /**
   * A sign of life, and what comes after a piece. Who began to read before is told `resumed_elsewhere`.
   * @throws HlvmError `resume_not_possible`, and what the answer failed with
   */
  async *after(place: Place, left: AbortSignal): AsyncGenerator<Piece<Value> | "alive", void> {
    this.#require(place);
    const reader = (this.#reader += this.hasReader ? 2 : 1);
    this.#giveBack(place);
    this.#wake();
    const leave = (): void => this.#coming.resolve();
    left.addEventListener("abort", leave, { once: true });
    try {
      yield "alive";
      for (;;) {
        left.throwIfAborted();
        if (reader !== this.#reader) throw displaced();
        const next = this.#kept[this.#given - (this.#last - this.#kept.length)];
        if (next !== undefined) {
          this.#given = next.sequence;
          this.#unreadBytes -= next.bytes;
          this.#room.resolve();
          yield next;
        } else if (this.#isAlive) {
          this.#isAlive = false;
          yield "alive";
        } else if (this.#ended !== undefined) {
          if ("failure" in this.#ended) throw this.#ended.failure;
          return;
        } else {
          this.#coming = Promise.withResolvers();
          await this.#coming.promise;
        }
      }
    } finally {
      left.removeEventListener("abort", leave);
      if (reader === this.#reader) this.#reader++;
    }
  }

  /** Nothing of it is kept any more. */
  drop(): void {
    this.#memory.note(-this.#bytes);
    this.#bytes = 0;
    this.#kept.length = 0;
    this.#isDropped = true;
  }

  #add({ value, bytes: own, digest }: Exclude<Coming<Value>, "alive">): void {
    if (this.#isDropped) return;
    const bytes = own + BYTES_OF_PIECE;
    this.#kept.push({ sequence: ++this.#last, digest, value, bytes });
    this.#bytes += bytes;
    this.#unreadBytes += bytes;
    const hasRoom = this.#memory.note(bytes);
    while (this.#bytes > (hasRoom ? this.#limit : 0) && this.#kept[0]!.sequence <= this.#given) this.#forget();
  }

  #forget(): void {
    const { bytes, digest } = this.#kept.shift()!;
    this.#droppedDigest = digest;
    this.#bytes -= bytes;
    this.#memory.note(-bytes);
  }

  #require({ sequence, digest }: Place): void {
    const dropped = this.#last - this.#kept.length;
    if (this.#isDropped || sequence > this.#last || sequence < dropped) throw notResumable("what comes next of it is not kept");
    const known = sequence === dropped ? this.#droppedDigest : this.#kept[sequence - dropped - 1]!.digest;
    if (known !== digest) throw notResumable("it is not the answer that was read");
  }

  /** What was on its way when the connection was lost is unread again. */
  #giveBack({ sequence }: Place): void {
    const unread = this.#kept.filter((piece) => piece.sequence > sequence);
    this.#unreadBytes = unread.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#given = sequence;
  }

  async #forRoom(): Promise<void> {
    this.#room = Promise.withResolvers();
    await this.#room.promise;
  }

  #wake(): void {
    this.#coming.resolve();
  }
}

function displaced(): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "resumed_elsewhere",
    message: "The answer was resumed on another connection, and goes on there.",
  });
}
