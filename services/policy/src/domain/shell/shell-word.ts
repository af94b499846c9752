/** What the shell still puts in place of a part of a word. */
export type Expansion =
  /** `*`, `?`, `[a-z]`: any number of words, each beginning as the word does. */
  | "glob"
  /** `"$x"`: one word. */
  | "variable"
  /** `$x` without quotes: any number of any words. */
  | "split";

/** A word of a command as a program gets it, but for what the shell still expands. */
export interface ShellWord {
  /** Quotes and backslashes are taken off; what expands stands as it was written. */
  readonly text: string;
  readonly expansion?: Expansion;
}

const RANK: readonly (Expansion | undefined)[] = [undefined, "variable", "glob", "split"];
const PLAIN_START = /^[A-Za-z0-9_./]/;
/** The shell's own variables, which hold absolute paths. */
const ABSOLUTE_START = /^\$(HOME|PWD|\{HOME\}|\{PWD\})(\/|$)/;

export function shellWord(text: string, expansion?: Expansion): ShellWord {
  return expansion === undefined ? { text } : { text, expansion };
}

/** Of pieces that stand together without a blank. */
export function joinWords(pieces: readonly ShellWord[]): ShellWord {
  const rank = Math.max(0, ...pieces.map(({ expansion }) => RANK.indexOf(expansion)));
  return shellWord(pieces.map(({ text }) => text).join(""), RANK[rank]);
}

/** Whether whatever it expands to is no option: it begins with a character that is written out, and that is no dash. */
export function staysOperand({ text, expansion }: ShellWord): boolean {
  if (expansion === undefined) return !text.startsWith("-");
  return expansion !== "split" && (PLAIN_START.test(text) || ABSOLUTE_START.test(text));
}

/** The texts of words of which none expands; undefined where one does. */
export function literalTexts(words: readonly ShellWord[]): readonly string[] | undefined {
  return words.some(({ expansion }) => expansion !== undefined) ? undefined : words.map(({ text }) => text);
}
