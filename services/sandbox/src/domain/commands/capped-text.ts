import { StringDecoder } from "node:string_decoder";

/**
 * The beginning and the end of a text that arrives in pieces, and how much there was between them. Holds at most the
 * two parts that it shows.
 */
export class CappedText {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #bytes = 0;

  /** @param shownBytes half of it for the beginning, half for the end */
  constructor(shownBytes: number) {
    this.#headLimit = Math.floor(shownBytes / 2);
    this.#tailLimit = shownBytes - this.#headLimit;
  }

  /** Bytes that came in all. */
  get bytes(): number {
    return this.#bytes;
  }

  get isCut(): boolean {
    return this.#bytes > this.#headLimit + this.#tailLimit;
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    const forHead = chunk.subarray(0, this.#headLimit - this.#headBytes);
    if (forHead.length > 0) this.#head.push(forHead);
    this.#headBytes += forHead.length;
    const rest = chunk.subarray(forHead.length);
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    while (this.#tailBytes - this.#tail[0]!.length >= this.#tailLimit) this.#tailBytes -= this.#tail.shift()!.length;
  }

  toString(): string {
    const tail = Buffer.concat(this.#tail);
    if (!this.isCut) return Buffer.concat([...this.#head, tail]).toString("utf8");
    const shown = tail.subarray(Math.max(0, tail.length - this.#tailLimit));
    const left = this.#bytes - this.#headBytes - shown.length;
    return `${wholeCharacters(Buffer.concat(this.#head))}\n[… ${left} bytes left out …]\n${shown.toString("utf8").replace(/^�+/, "")}`;
  }
}

/** Without a character that was cut in two at the end. */
function wholeCharacters(bytes: Buffer): string {
  return new StringDecoder("utf8").write(bytes);
}
