import type { WordReader } from "./word-reader.ts";

const PLAIN = /[A-Za-z0-9_./:=@%+,^~-]/;
/** The shell puts a home directory for `~` at the start of a word, and after `:` or `=`. */
const TILDE_THAT_EXPANDS = /(^|[:=])~/;
const OPTION_WITH_VALUE = /^--[a-z][a-z-]*=$/;

/**
 * The literal subset, read by hand: printable ASCII, words of plain characters, words that are quoted as a whole, and
 * `--option="quoted"`. Everything that a shell could expand, redirect or put together differently has no reading.
 */
export const literalWords: WordReader = (command) => {
  const parts: string[][] = [[]];
  let at = 0;
  while (at < command.length) {
    const character = command[at]!;
    if (character === " ") at += 1;
    else if (character === ";" || character === "|" || character === "&") {
      const operator = /^(&&|\|\||;|\|)/.exec(command.slice(at, at + 2))?.[0];
      if (operator === undefined || parts.at(-1)!.length === 0) return undefined;
      parts.push([]);
      at += operator.length;
    } else {
      const word = readWord(command, at);
      if (word === undefined) return undefined;
      parts.at(-1)!.push(word.text);
      at = word.end;
    }
  }
  return parts.every((words) => words.length > 0) ? parts : undefined;
};

interface Read {
  readonly text: string;
  readonly end: number;
}

function readWord(command: string, start: number): Read | undefined {
  let end = start;
  while (end < command.length && PLAIN.test(command[end]!)) end += 1;
  const plain = command.slice(start, end);
  if (TILDE_THAT_EXPANDS.test(plain)) return undefined;
  const quote = command[end];
  if (quote !== "'" && quote !== '"') return plain !== "" && endsWord(command, end) ? { text: plain, end } : undefined;
  if (plain !== "" && !OPTION_WITH_VALUE.test(plain)) return undefined;
  const closing = command.indexOf(quote, end + 1);
  if (closing < 0 || !endsWord(command, closing + 1)) return undefined;
  const quoted = command.slice(end + 1, closing);
  const isLiteral = quote === "'" ? /^[ -~]*$/.test(quoted) : /^[ -~]*$/.test(quoted) && !/[$`\\!]/.test(quoted);
  return isLiteral ? { text: plain + quoted, end: closing + 1 } : undefined;
}

function endsWord(command: string, at: number): boolean {
  return at === command.length || " ;|&".includes(command[at]!);
}
