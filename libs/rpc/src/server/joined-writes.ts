import type { ServerHttp2Stream } from "node:http2";

/** Beyond it what waits is written at once, so that a handler that never pauses is slowed by its reader. */
const LARGEST_PIECE_BYTES = 16 * 1024;

/**
 * Writes to a stream so that what is given without a pause goes out in one piece, the stream's end included: each piece
 * wakes the reader, which costs both sides more than what it says.
 */
export class JoinedWrites {
  readonly #stream: ServerHttp2Stream;
  #waiting: Uint8Array[] = [];
  #bytes = 0;

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream;
  }

  write(bytes: Uint8Array): void {
    if (this.#waiting.length === 0) process.nextTick(() => this.#flush());
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes >= LARGEST_PIECE_BYTES) this.#flush();
  }

  end(bytes: Uint8Array): void {
    this.#stream.end(this.#take(bytes));
  }

  #flush(): void {
    if (this.#waiting.length > 0 && !this.#stream.closed && !this.#stream.destroyed) this.#stream.write(this.#take());
  }

  #take(...more: Uint8Array[]): Uint8Array {
    const all = [...this.#waiting, ...more];
    this.#waiting = [];
    this.#bytes = 0;
    return all.length === 1 ? all[0]! : Buffer.concat(all);
  }
}
