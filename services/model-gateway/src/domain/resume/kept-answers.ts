import { HlvmError } from "@hlvm/errors/hlvm-error";
import { HANDED_OVER } from "./handed-over.ts";
import { BEGINNING, KeptAnswer, type Coming, type Memory, type Piece, type Place } from "./kept-answer.ts";

export interface KeptAnswerLimits {
  /** How long an answer waits for a caller whose connection was lost, and a finished one is kept. */
  readonly seconds: number;
  /** Of one answer. */
  readonly bytes: number;
  /** Of all together. */
  readonly allBytes: number;
  /** At a time. */
  readonly answers: number;
}

interface Entry<Value> {
  readonly answer: KeptAnswer<Value>;
  readonly ending: AbortController;
  grace: NodeJS.Timeout | undefined;
}

/** The answers that callers may come back for. */
export class KeptAnswers<Value> {
  readonly #limits: KeptAnswerLimits;
  readonly #entries = new Map<string, Entry<Value>>();
  #bytes = 0;

  constructor(limits: KeptAnswerLimits) {
    this.#limits = limits;
  }

  /** Whether another answer may be kept: in the place of one that is whole, if need be. */
  get hasRoom(): boolean {
    return this.#limits.seconds > 0 && (this.#entries.size < this.#limits.answers || this.#oldestWhole() !== undefined);
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /**
   * Begins to read an answer, which goes on until it is over, cancelled, or nobody has come back for it.
   * @param start after which what is read begins
   */
  begin(name: string, open: (signal: AbortSignal) => AsyncIterable<Coming<Value>>, start: Place = BEGINNING): void {
    const oldest = this.#entries.size < this.#limits.answers ? undefined : this.#oldestWhole();
    if (oldest !== undefined) this.#end(...oldest, undefined);
    const ending = new AbortController();
    const entry: Entry<Value> = { answer: new KeptAnswer(this.#limits.bytes, this.#memory, start), ending, grace: undefined };
    this.#entries.set(name, entry);
    void entry.answer.fill(open(ending.signal), ending.signal).then(() => this.#leave(name, entry));
    this.#leave(name, entry);
  }

  /**
   * Reads on after a piece. A reader whose connection was lost may come back; one that leaves otherwise ends the answer.
   * @throws HlvmError `resume_not_possible`, `resumed_elsewhere`, and what the answer failed with
   */
  async *read(name: string, place: Place, left: AbortSignal): AsyncGenerator<Piece<Value> | "alive", void> {
    const entry = this.#entries.get(name)!;
    try {
      yield* entry.answer.after(place, left);
    } finally {
      if (!entry.answer.hasReader) {
        if (left.aborted && !isLost(left.reason)) this.#end(name, entry, left.reason);
        else this.#leave(name, entry);
      }
    }
  }

  /** Ends all of them, so that a server which can go on with one does. */
  close(): void {
    for (const [name, entry] of this.#entries) this.#end(name, entry, HANDED_OVER);
  }

  readonly #memory: Memory = {
    note: (bytes) => {
      this.#bytes += bytes;
      if (bytes <= 0 || this.#bytes <= this.#limits.allBytes) return true;
      for (const [name, entry] of this.#entries) {
        if (this.#bytes <= this.#limits.allBytes) break;
        if (entry.answer.isEnded && !entry.answer.hasReader) this.#end(name, entry, undefined);
      }
      return this.#bytes <= this.#limits.allBytes;
    },
  };

  #oldestWhole(): [string, Entry<Value>] | undefined {
    for (const [name, entry] of this.#entries) if (entry.answer.isEnded && !entry.answer.hasReader) return [name, entry];
    return undefined;
  }

  #leave(name: string, entry: Entry<Value>): void {
    if (this.#entries.get(name) !== entry || (entry.answer.hasReader && !entry.answer.isEnded)) return;
    clearTimeout(entry.grace);
    const over = (): void => (entry.answer.hasReader ? this.#leave(name, entry) : this.#end(name, entry, undefined));
    entry.grace = setTimeout(over, this.#limits.seconds * 1_000).unref();
  }

  #end(name: string, { answer, ending, grace }: Entry<Value>, reason: unknown): void {
    clearTimeout(grace);
    this.#entries.delete(name);
    ending.abort(reason);
    answer.drop();
  }
}

/** As a call's signal tells it. */
function isLost(reason: unknown): boolean {
  return reason instanceof HlvmError && reason.reason === "caller_lost";
}
