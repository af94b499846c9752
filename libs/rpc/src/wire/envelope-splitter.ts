import { Code, ConnectError } from "@connectrpc/connect";

const PREFIX_BYTES = 5;
const LENGTH_OFFSET = 1;

export interface Envelope {
  readonly flags: number;
  readonly data: Uint8Array;
}

/** Takes the body of a stream apart: each message has a byte of flags and four of length before it. */
export class EnvelopeSplitter {
  readonly #maximumBytes: number;
  #chunks: Uint8Array[] = [];
  #received = 0;
  #needed = PREFIX_BYTES;

  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes;
  }

  /** Whether nothing of an unfinished envelope is left. */
  get isEmpty(): boolean {
    return this.#received === 0;
  }

  /**
   * The envelopes that are complete with this chunk.
   * @throws ConnectError ResourceExhausted as soon as a message is announced that is too large
   */
  push(chunk: Uint8Array): Envelope[] {
    this.#chunks.push(chunk);
    this.#received += chunk.length;
    if (this.#received < this.#needed) return [];
    let rest = this.#chunks.length === 1 ? chunk : joined(this.#chunks, this.#received);
    const envelopes: Envelope[] = [];
    for (;;) {
      this.#needed = PREFIX_BYTES;
      if (rest.length < this.#needed) break;
      const length = new DataView(rest.buffer, rest.byteOffset).getUint32(LENGTH_OFFSET);
      if (length > this.#maximumBytes)
        throw new ConnectError(`The message has ${length} bytes; the limit is ${this.#maximumBytes}.`, Code.ResourceExhausted);
      this.#needed += length;
      if (rest.length < this.#needed) break;
      envelopes.push({ flags: rest[0]!, data: plain(rest, PREFIX_BYTES, length) });
      rest = rest.subarray(this.#needed);
    }
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#received = rest.length;
    return envelopes;
  }
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  return Buffer.concat(chunks, length);
}

/** Not a Buffer: fields of type bytes are views of this, and a handler expects what protobuf promises. */
function plain(bytes: Uint8Array, offset: number, length: number): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset + offset, length);
}
