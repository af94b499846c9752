import { Code, ConnectError } from "@connectrpc/connect";

/** Puts a body together, and stops where it grows too large. */
export class BodyCollector {
  readonly #maximumBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes;
  }

  /** @throws ConnectError ResourceExhausted */
  push(chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#length > this.#maximumBytes)
      throw new ConnectError(`The message has more than the ${this.#maximumBytes} bytes that are allowed.`, Code.ResourceExhausted);
    this.#chunks.push(chunk);
  }

  /** Not a Buffer: fields of type bytes are views of this, and a handler expects what protobuf promises. */
  bytes(): Uint8Array {
    const [only] = this.#chunks;
    const whole = this.#chunks.length === 1 ? only! : Buffer.concat(this.#chunks, this.#length);
    return new Uint8Array(whole.buffer, whole.byteOffset, whole.length);
  }
}
