/** One command that may be in a text, with the files that it may write to. */
export interface LooseCommand {
  readonly words: readonly string[];
  readonly writesTo: readonly string[];
}

const SHELLS = new Set(["sh", "bash", "dash", "zsh", "ksh", "ash", "eval", "su", "ssh", "watch"]);
const WRAPPERS = new Set(
  ["sudo", "doas", "env", "timeout", "nohup", "setsid", "nice", "ionice", "stdbuf", "xargs", "watch", "time", "command", "exec"].concat([
    "busybox",
    "builtin",
    "chroot",
    "unshare",
    "strace",
    "find",
    "fd",
    "parallel",
    "chronic",
    "flock",
    "eatmydata",
  ]),
);
const KEYWORDS = new Set(["{", "}", "!", "if", "then", "else", "elif", "while", "until", "do", "done", "fi", "for", "coproc"]);
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;
const MAXIMUM_DEPTH = 4;
const MAXIMUM_SUFFIXES = 12;

/**
 * Every command that a text may hold, read loosely: quotes and backslashes are taken off, substitutions and what is given
 * to a shell or a wrapper (`sudo`, `xargs`, `find -exec`) is read as a command too. It finds too much rather than too
 * little, a line of a here-document for instance, and it never throws. It is good for asking a person, not for allowing.
 */
export function looseCommands(text: string, depth = 0): LooseCommand[] {
  const found: LooseCommand[] = [];
  for (const command of scan(text)) {
    const start = command.words.findIndex((word) => !KEYWORDS.has(word) && !ASSIGNMENT.test(word));
    if (start < 0 && command.writesTo.length === 0) continue;
    const words = start < 0 ? [] : [programName(command.words[start]!), ...command.words.slice(start + 1)];
    found.push({ words, writesTo: command.writesTo });
    if (depth < MAXIMUM_DEPTH) found.push(...inner(words, depth));
  }
  return found;
}

function inner(words: readonly string[], depth: number): LooseCommand[] {
  const [program = "", ...rest] = words;
  const found: LooseCommand[] = [];
  if (SHELLS.has(program)) for (const word of rest) if (word.includes(" ")) found.push(...looseCommands(word, depth + 1));
  if (program === "eval") found.push(...looseCommands(rest.join(" "), depth + 1));
  if (WRAPPERS.has(program))
    for (let index = 0; index < Math.min(rest.length, MAXIMUM_SUFFIXES); index += 1) {
      const suffix = rest.slice(index);
      if (suffix[0]!.startsWith("-")) continue;
      const inside = [programName(suffix[0]!), ...suffix.slice(1)];
      found.push({ words: inside, writesTo: [] });
      if (SHELLS.has(inside[0]!) && inside[0] !== program) found.push(...inner(inside, depth + 1));
    }
  return found;
}

function programName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}

/** Splits a text at everything that may end a command, with quotes and backslashes taken off. */
function scan(text: string): LooseCommand[] {
  const reader = new LooseReader(text.replaceAll(/\\\r?\n/g, "").replaceAll(/\$(\{IFS\}|IFS\b)/g, " "));
  return reader.read();
}

interface Frame {
  readonly words: string[];
  readonly writesTo: string[];
  readonly word: string;
  readonly quote: string;
}

class LooseReader {
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
