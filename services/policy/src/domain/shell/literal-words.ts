import { joinWords, shellWord, type ShellWord } from "./shell-word.ts";
import { redirection, type CommandPart, type Redirection, type WordReader } from "./word-reader.ts";

const END_OF_WORD = " ;|&<>";
/** The shell puts a home directory for `~` at the start of a word, and after `:` or `=`. */
const TILDE_THAT_EXPANDS = /(^|[:=])~/;
/** Each piece that a word may be put together from, and how it is read. Sticky: each begins where the one before ended. */
const PIECES: readonly (readonly [RegExp, (text: string) => ShellWord | undefined])[] = [
  [/[A-Za-z0-9_./:=@%+,^~-]+/y, (text) => (TILDE_THAT_EXPANDS.test(text) ? undefined : shellWord(text))],
  [/'[ -&(-~]*'/y, (text) => shellWord(text.slice(1, -1))],
  [/"(?:[ #%-[\]-_a-~]|\\[ -~]|\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\}|\$(?=["| ).\\]))*"/y, readQuoted],
  // Only marks that a shell takes for itself: a backslash before a letter is there to deceive.
  [/\\[()!*?.;]/y, (text) => shellWord(text.slice(1))],
  [/[*?]|\[[!^]?(?:\[:[a-z]+:\]|[A-Za-z0-9_.:-])+\]/y, (text) => shellWord(text, "glob")],
  // Braces without a comma or two points are text: `HEAD@{1}`, `@{u}`, `{}`.
  [/\{[A-Za-z0-9_-]*\}/y, shellWordOf],
  [/\$(?:[A-Za-z_]\w*|\?)/y, (text) => shellWord(text, "split")],
];
const DESCRIPTOR = /\d(?=[<>])/y;
const OPERATOR = /&&|\|\||;|\|/y;
const REDIRECTION = />&(?=[12](?:[ ;|]|$))|>> *(?![<>&|(])|> *(?![<>&|(])|< *(?![<>&|(])/y;

/**
 * The literal subset, read by hand: printable ASCII in words of plain and quoted pieces, with globs and plain variables marked
 * as what they are. Everything else that a shell could expand or put together differently has no reading.
 */
export const literalWords: WordReader = (command) => {
  const parts: { words: ShellWord[]; redirections: Redirection[] }[] = [{ words: [], redirections: [] }];
  let at = 0;
  while (at < command.length) {
    const part = parts.at(-1)!;
    const operator = matchAt(OPERATOR, command, at);
    if (command[at] === " ") at += 1;
    else if (operator !== undefined) {
      if (part.words.length === 0) return undefined;
      parts.push({ words: [], redirections: [] });
      at += operator.length;
    } else {
      const descriptor = matchAt(DESCRIPTOR, command, at);
      const redirected = matchAt(REDIRECTION, command, at + (descriptor?.length ?? 0));
      if (redirected !== undefined) at += (descriptor?.length ?? 0) + redirected.length;
      const word = readWord(command, at);
      if (word === undefined) return undefined;
      at = word.end;
      if (redirected === undefined) part.words.push(word.word);
      else {
        if (part.words.length === 0 || word.word.expansion !== undefined) return undefined;
        part.redirections.push(redirection(redirected.trim(), descriptor === undefined ? undefined : Number(descriptor), word.word.text));
      }
    }
  }
  return parts.every(({ words }) => words.length > 0) ? (parts satisfies CommandPart[]) : undefined;
};

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function readWord(command: string, start: number): { readonly word: ShellWord; readonly end: number } | undefined {
  const pieces: ShellWord[] = [];
  let end = start;
  // The program `[` and its last word.
  const bracket = matchAt(/[[\]](?=[ ;|&<>]|$)/y, command, start);
  if (bracket !== undefined) return { word: shellWord(bracket), end: start + 1 };
  while (end < command.length && !END_OF_WORD.includes(command[end]!)) {
    const piece = readPiece(command, end);
    if (piece?.word === undefined) return undefined;
    pieces.push(piece.word);
    end = piece.end;
  }
  const isVariableName = /^\{\w+\}$/.test(command.slice(start, end)) && "<>".includes(command[end] ?? " ");
  // Digits before `<` or `>` name a stream, of which only those of one digit are read.
  const isStream = /^\d+$/.test(command.slice(start, end)) && "<>".includes(command[end] ?? " ");
  return pieces.length === 0 || isVariableName || isStream ? undefined : { word: joinWords(pieces), end };
}

function readPiece(command: string, at: number): { readonly word: ShellWord | undefined; readonly end: number } | undefined {
  for (const [pattern, read] of PIECES) {
    const text = matchAt(pattern, command, at);
    if (text !== undefined) return { word: read(text), end: at + text.length };
  }
  return undefined;
}

function shellWordOf(text: string): ShellWord {
  return shellWord(text);
}

/** Between double quotes a backslash is text but before these four. */
function readQuoted(text: string): ShellWord {
  const inside = text.slice(1, -1);
  const isExpanded = /(?<!\\)(?:\\\\)*\$[A-Za-z_{]/.test(inside);
  return shellWord(inside.replaceAll(/\\([$`"\\])/g, "$1"), isExpanded ? "variable" : undefined);
}
