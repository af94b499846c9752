/** JSON as small models write it: what it says, and where it ends. */
export interface LooseValue {
  readonly value: unknown;
  /** One past its last character. */
  readonly end: number;
  /** The text ended before its brackets did. */
  readonly isOpen: boolean;
  /** The text ended within a string: nobody knows what else was to be in it. */
  readonly isCut: boolean;
}

const DEEPEST = 32;
const WORDS: Readonly<Record<string, unknown>> = { true: true, false: false, null: null, True: true, False: false, None: null };
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y;
const BARE_KEY = /[A-Za-z_][\w-]*/y;
const BARE_WORD = /[A-Za-z]+/y;

/**
 * Reads an object or a list, strictly where it is strict, and else forgives what small models write: single or triple quotes,
 * keys without any, trailing commas, line ends in strings, Python's words, and an end that is missing because the text is over.
 * @returns undefined where it is none; in time that grows with what is read
 */
export function readLooseJson(text: string, start: number): LooseValue | undefined {
  const reader = new LooseReader(text, start);
  const value = reader.value(0);
  return value === FAILED ? undefined : { value, end: reader.at, isOpen: reader.isOpen, isCut: reader.isCut };
}

const FAILED = Symbol("no JSON");

class LooseReader {
  readonly #text: string;
  at: number;
  isOpen = false;
  isCut = false;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  value(depth: number): unknown {
    this.#skipBlanks();
    const character = this.#text[this.at];
    if (depth > DEEPEST || character === undefined) return FAILED;
    if (character === "{") return this.#object(depth);
    if (character === "[") return this.#list(depth);
    if (character === '"' || character === "'") return this.#string(character);
    const number = this.#match(NUMBER);
    if (number !== undefined) return Number(number);
    const word = this.#match(BARE_WORD);
    return word !== undefined && Object.hasOwn(WORDS, word) ? WORDS[word] : FAILED;
  }

  #object(depth: number): unknown {
    const found: Record<string, unknown> = {};
    this.at++;
    for (;;) {
      if (this.#closes("}")) return found;
      const key = this.#key();
      if (key === undefined) return FAILED;
      this.#skipBlanks();
      if (this.#text[this.at] !== ":" && this.#text[this.at] !== "=") return FAILED;
      this.at++;
      const value = this.value(depth + 1);
      if (value === FAILED) return FAILED;
      // Not by assignment: a key may be `__proto__`.
      Object.defineProperty(found, key, { value, enumerable: true, configurable: true, writable: true });
      if (!this.#separates("}")) return FAILED;
    }
  }

  #list(depth: number): unknown {
    const found: unknown[] = [];
    this.at++;
    for (;;) {
      if (this.#closes("]")) return found;
      const value = this.value(depth + 1);
      if (value === FAILED) return FAILED;
      found.push(value);
      if (!this.#separates("]")) return FAILED;
    }
  }

  /** At the bracket that closes, or at the end of the text, where it is taken for there. */
  #closes(bracket: string): boolean {
    this.#skipBlanks();
    if (this.at >= this.#text.length) this.isOpen = true;
    else if (this.#text[this.at] !== bracket) return false;
    this.at = Math.min(this.at + 1, this.#text.length);
    return true;
  }

  #separates(bracket: string): boolean {
    this.#skipBlanks();
    if (this.#text[this.at] === ",") this.at++;
    else if (this.at < this.#text.length && this.#text[this.at] !== bracket) return false;
    return true;
  }

  #key(): string | undefined {
    const quote = this.#text[this.at];
    if (quote === '"' || quote === "'") return this.#string(quote);
    return this.#match(BARE_KEY);
  }

  /** A string that the text ends in is taken for ended there. */
  #string(quote: string): string {
    const triple = quote.repeat(3);
    const closing = this.#text.startsWith(triple, this.at) ? triple : quote;
    this.at += closing.length;
    let found = "";
    while (this.at < this.#text.length) {
      const character = this.#text[this.at]!;
      if (this.#text.startsWith(closing, this.at)) {
        this.at += closing.length;
        return found;
      }
      this.at++;
      found += character === "\\" ? this.#escape() : character;
    }
    this.isCut = true;
    return found;
  }

  #escape(): string {
    const character = this.#text[this.at] ?? "";
    this.at = Math.min(this.at + 1, this.#text.length);
    if (character !== "u") return ESCAPES[character] ?? character;
    const digits = this.#text.slice(this.at, this.at + 4);
    if (!/^[0-9a-f]{4}$/i.test(digits)) return "u";
    this.at += 4;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  #skipBlanks(): void {
    while (/\s/.test(this.#text[this.at] ?? "x")) this.at++;
  }
}
