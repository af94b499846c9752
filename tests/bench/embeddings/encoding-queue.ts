import { setImmediate as afterInput } from "node:timers/promises";
import type { Encoder } from "./text-encoder.ts";

export interface Encoded {
  readonly vector: Float32Array;
  readonly pieces: number;
}

interface Waiting {
  readonly text: string;
  pieces?: readonly number[];
  readonly resolve: (encoded: Encoded) => void;
  readonly reject: (cause: unknown) => void;
}

const TEXTS_AT_ONCE = 16;
/** More of them take longer each, and whoever asks meanwhile waits for them. */
const PIECES_AT_ONCE = 64;

/** Texts that somebody waits for go before those that fill an index; a group that has begun is ended first. */
export class EncodingQueue {
  readonly #encoder: Encoder;
  readonly #asked: Waiting[] = [];
  readonly #filling: Waiting[] = [];
  #isRunning = false;

  constructor(encoder: Encoder) {
    this.#encoder = encoder;
  }

  encode(text: string, kind: "asked" | "filling"): Promise<Encoded> {
    const { promise, resolve, reject } = Promise.withResolvers<Encoded>();
    (kind === "asked" ? this.#asked : this.#filling).push({ text, resolve, reject });
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // So that all texts of one request are there; and the encoder leaves no time for requests while it runs.
    for (await afterInput(); this.#asked.length + this.#filling.length > 0; await afterInput())
      await this.#encodeGroup(this.#takeGroup(this.#asked.length > 0 ? this.#asked : this.#filling));
    this.#isRunning = false;
  }

  #takeGroup(queue: Waiting[]): Waiting[] {
    let sum = 0;
    let count = 0;
    for (const waiting of queue.slice(0, TEXTS_AT_ONCE)) {
      waiting.pieces ??= this.#encoder.piecesOf(waiting.text);
      sum += waiting.pieces.length;
      if (count > 0 && sum > PIECES_AT_ONCE) break;
      count++;
    }
    return queue.splice(0, count);
  }

  async #encodeGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const vectors = await this.#encoder.encode(group.map(({ pieces }) => pieces!));
      for (const [index, { pieces, resolve }] of group.entries()) resolve({ vector: vectors[index]!, pieces: pieces!.length });
    } catch (cause) {
      for (const { reject } of group) reject(cause);
    }
  }
}
