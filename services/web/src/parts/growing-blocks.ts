import { lexer, type Token } from "marked";

/**
 * The blocks of a Markdown text that grows at its end. Only its last block is lexed again, and all others stay the very same objects,
 * so that what has been drawn of them is not drawn again. A text that does not go on from the one before is begun anew.
 */
export class GrowingBlocks {
  readonly #close: (text: string) => string;
  #settled = "";
  #blocks: Token[] = [];

  /** @param close closes what a text leaves open, such as a fence or an emphasis */
  constructor(close: (text: string) => string) {
    this.#close = close;
  }

  /** @returns the blocks of the whole text; what its last one leaves open is closed */
  blocksOf(text: string): readonly Token[] {
    if (!text.startsWith(this.#settled)) {
      this.#settled = "";
      this.#blocks = [];
    }
    const rest = text.slice(this.#settled.length);
    const fresh = lexer(rest);
    // Blanks behind the last block may turn out to stand within it, as in a list.
    const closed = fresh.slice(
      0,
      Math.max(
        0,
        fresh.findLastIndex(({ type }) => type !== "space"),
      ),
    );
    const raw = closed.map((token) => token.raw).join("");
    // The lexer writes some blanks and line ends anew: then nothing tells where in the text a block ends.
    if (closed.length === 0 || !rest.startsWith(raw)) return [...this.#blocks, ...lexer(this.#close(rest))];
    this.#settled += raw;
    this.#blocks = [...this.#blocks, ...closed];
    return [...this.#blocks, ...lexer(this.#close(rest.slice(raw.length)))];
  }
}
