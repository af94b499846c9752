import type { LooseCommand } from "./loose-commands.ts";

interface Frame {
  readonly words: string[];
  readonly writesTo: string[];
  readonly word: string;
  readonly quote: string;
}

/** Splits a text at everything that may end a command, with quotes and backslashes taken off. */
export class LooseReader {
  readonly #text: string;
  readonly #found: LooseCommand[] = [];
  readonly #outer: Frame[] = [];
  #words: string[] = [];
  #writesTo: string[] = [];
  #word = "";
  #quote = "";
  #isTarget = false;

  constructor(text: string) {
    this.#text = text;
  }

  read(): LooseCommand[] {
    for (let at = 0; at < this.#text.length; at += 1) at = this.#take(at);
    this.#endCommand();
    for (const frame of this.#outer.toReversed()) {
      this.#restore(frame);
      this.#endCommand();
    }
    return this.#found;
  }

  /** @returns where the piece that was taken ends */
  #take(at: number): number {
    const character = this.#text[at]!;
    const next = this.#text[at + 1] ?? "";
    if (this.#quote === "'") {
      if (character === "'") this.#quote = "";
      else this.#word += character;
      return at;
    }
    if (character === "\\") {
      this.#word += next;
      return at + 1;
    }
    if (next === "(" && (character === "$" || (this.#quote === "" && (character === "<" || character === ">")))) {
      this.#enter();
      return at + 1;
    }
    if (character === "`") {
      if (this.#outer.at(-1)?.quote.endsWith("`") === true) this.#leave();
      else this.#enter("`");
      return at;
    }
    if (this.#quote === '"') {
      if (character === '"') this.#quote = "";
      else this.#word += character;
      return at;
    }
    return this.#takePlain(at, character, next);
  }

  #takePlain(at: number, character: string, next: string): number {
    if (character === "'" || character === '"') this.#quote = character;
    else if (character === "$" && next === "'") return at;
    else if (character === "#" && this.#word === "") return this.#endOfLine(at);
    else if (character === ")" && this.#outer.length > 0) this.#leave();
    else if (character === ">") {
      this.#endWord();
      this.#isTarget = true;
      if (next === "&" || next === "|" || next === ">") return at + 1;
    } else if (character === "<") this.#endWord();
    else if (character === "&" && next === ">") return at;
    else if (";&|\n()".includes(character)) this.#endCommand();
    else if (/\s/.test(character)) this.#endWord();
    else this.#word += character;
    return at;
  }

  #endOfLine(at: number): number {
    const end = this.#text.indexOf("\n", at);
    return (end < 0 ? this.#text.length : end) - 1;
  }

  #enter(mark = ""): void {
    this.#outer.push({ words: this.#words, writesTo: this.#writesTo, word: this.#word, quote: this.#quote + mark });
    this.#clear();
  }

  #leave(): void {
    this.#endCommand();
    this.#restore(this.#outer.pop()!);
  }

  #restore(frame: Frame): void {
    this.#words = frame.words;
    this.#writesTo = frame.writesTo;
    this.#word = frame.word;
    this.#quote = frame.quote.replace("`", "");
  }

  #endWord(): void {
    if (this.#word === "") return;
    if (this.#isTarget) this.#writesTo.push(this.#word);
    else this.#words.push(this.#word);
    this.#isTarget = false;
    this.#word = "";
  }

  #endCommand(): void {
    this.#endWord();
    if (this.#words.length > 0 || this.#writesTo.length > 0) this.#found.push({ words: this.#words, writesTo: this.#writesTo });
    this.#clear();
  }

  #clear(): void {
    this.#words = [];
    this.#writesTo = [];
    this.#word = "";
    this.#quote = "";
    this.#isTarget = false;
  }
}
