import type { Key, KeyName } from "./key-decoder.ts";

/** In UTF-16 units: in UTF-8 it is at most three times as many bytes, which is less than a message may have. */
const MOST_TEXT = 300_000;
/** No character that a person sees is made of more than that. */
const LONGEST_GRAPHEME = 64;
const graphemes = new Intl.Segmenter();

/** A text that a person types, and where in it they are. It is edited by what a person sees as one character. */
export class LineEditor {
  #text = "";
  #cursor = 0;

  get text(): string {
    return this.#text;
  }

  get before(): string {
    return this.#text.slice(0, this.#cursor);
  }

  get after(): string {
    return this.#text.slice(this.#cursor);
  }

  set(text: string): void {
    this.#text = text;
    this.#cursor = text.length;
  }

  /** @returns whether the key edits: false for one that means something else, and for text that is too long to be taken */
  press({ name, text }: Key): boolean {
    if (name === "text" || name === "paste") return this.#insert(text);
    if (name === "newline") return this.#insert("\n");
    return this.#move(name) || this.#erase(name);
  }

  #insert(text: string): boolean {
    if (this.#text.length + text.length > MOST_TEXT) return false;
    this.#text = this.before + text + this.after;
    this.#cursor += text.length;
    return true;
  }

  #move(name: KeyName): boolean {
    const to = this.#target(name);
    if (to === undefined) return false;
    this.#cursor = to;
    return true;
  }

  #target(name: KeyName): number | undefined {
    if (name === "left") return this.#previous();
    if (name === "right") return this.#next();
    if (name === "home") return 0;
    if (name === "end") return this.#text.length;
    if (name === "word-left") return this.#wordBegin();
    if (name === "word-right") return this.#cursor + /^[^\p{L}\p{N}]*[\p{L}\p{N}]*/u.exec(this.after)![0].length;
    return undefined;
  }

  #erase(name: KeyName): boolean {
    if (name === "backspace") this.#cut(this.#previous(), this.#cursor);
    else if (name === "delete") this.#cut(this.#cursor, this.#next());
    else if (name === "erase-word") this.#cut(this.#wordBegin(), this.#cursor);
    else if (name === "erase-before") this.#cut(0, this.#cursor);
    else if (name === "erase-after") this.#cut(this.#cursor, this.#text.length);
    else return false;
    return true;
  }

  #cut(from: number, to: number): void {
    this.#text = this.#text.slice(0, from) + this.#text.slice(to);
    this.#cursor = from;
  }

  #previous(): number {
    const near = this.#text.slice(Math.max(0, this.#cursor - LONGEST_GRAPHEME), this.#cursor);
    return this.#cursor - (Array.from(graphemes.segment(near)).at(-1)?.segment.length ?? 0);
  }

  #next(): number {
    const near = this.#text.slice(this.#cursor, this.#cursor + LONGEST_GRAPHEME);
    return this.#cursor + (graphemes.segment(near).containing(0)?.segment.length ?? 0);
  }

  #wordBegin(): number {
    // From the end, so that a long text is not looked at whole.
    let at = this.#cursor;
    while (at > 0 && !/[\p{L}\p{N}]/u.test(this.#text[at - 1]!)) at -= 1;
    while (at > 0 && /[\p{L}\p{N}]/u.test(this.#text[at - 1]!)) at -= 1;
    return at;
  }
}
