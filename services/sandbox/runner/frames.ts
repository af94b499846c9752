const LENGTH_BYTES = 4;

/** The largest frame that either side takes: arguments are at most 4 MiB and may double when escaped. */
export const MAXIMUM_FRAME_BYTES = 16 * 1024 * 1024;

/** One message: a four-byte big-endian length and its JSON. */
export function encodeFrame(message: object): Buffer {
  const json = Buffer.from(JSON.stringify(message), "utf8");
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + json.length);
  frame.writeUInt32BE(json.length);
  json.copy(frame, LENGTH_BYTES);
  return frame;
}

/** Cuts a stream of bytes into messages, however the bytes arrive. Holds at most one unfinished frame. */
export class FrameDecoder {
  #pieces: Buffer[] = [];
  #length = 0;

  /**
   * The messages that are complete with this chunk.
   * @throws Error where a frame is too large or is not JSON; nothing after it can be trusted
   */
  *push(chunk: Buffer): Generator<unknown> {
    this.#pieces.push(chunk);
    this.#length += chunk.length;
    while (this.#length >= LENGTH_BYTES) {
      if (this.#pieces[0]!.length < LENGTH_BYTES) this.#join();
      const size = this.#pieces[0]!.readUInt32BE();
      if (size > MAXIMUM_FRAME_BYTES) throw new Error(`a frame of ${size} bytes is over the limit of ${MAXIMUM_FRAME_BYTES}`);
      if (this.#length < LENGTH_BYTES + size) return;
      this.#join();
      const bytes = this.#pieces[0]!;
      const json = bytes.toString("utf8", LENGTH_BYTES, LENGTH_BYTES + size);
      this.#pieces = [bytes.subarray(LENGTH_BYTES + size)];
      this.#length = this.#pieces[0]!.length;
      yield JSON.parse(json);
    }
  }

  #join(): void {
    if (this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces, this.#length)];
  }
}
