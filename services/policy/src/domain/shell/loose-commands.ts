import { LooseReader } from "./loose-reader.ts";

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
const MAXIMUM_DEPTH = 5;
const MAXIMUM_SUFFIXES = 12;

/**
 * Every command that a text may hold, read loosely: quotes and backslashes are taken off, substitutions and what is given
 * to a shell or a wrapper (`sudo`, `xargs`, `find -exec`) is read as a command too. It finds too much rather than too
 * little, a line of a here-document or a script's name for instance, and it never throws. It is good for asking a person,
 * not for allowing.
 */
export function looseCommands(text: string): LooseCommand[] {
  const found: LooseCommand[] = [];
  collect(text, { depth: 0, found, seen: new Set() });
  return found;
}

interface Search {
  readonly depth: number;
  readonly found: LooseCommand[];
  /** What was read at which depth: shells that stand in a row are given the same words again and again. */
  readonly seen: Set<string>;
}

function collect(text: string, search: Search): void {
  const { depth, found, seen } = search;
  const key = `${depth} ${text}`;
  if (depth > MAXIMUM_DEPTH || seen.has(key)) return;
  seen.add(key);
  for (const command of scan(text)) {
    const start = command.words.findIndex((word) => !KEYWORDS.has(word) && !ASSIGNMENT.test(word));
    if (start < 0 && command.writesTo.length === 0) continue;
    const words = start < 0 ? [] : [programName(command.words[start]!), ...command.words.slice(start + 1)];
    found.push({ words, writesTo: command.writesTo });
    collectInner(words, { ...search, depth: depth + 1 });
  }
}

/** Reads what a shell or a wrapper is given. Which of a shell's arguments is the command is not asked: each may be one. */
function collectInner(words: readonly string[], search: Search): void {
  const [program = "", ...rest] = words;
  if (SHELLS.has(program)) for (const word of rest) collect(word, search);
  if (program === "eval") collect(rest.join(" "), search);
  if (!WRAPPERS.has(program)) return;
  for (let index = 0; index < Math.min(rest.length, MAXIMUM_SUFFIXES); index += 1) {
    const suffix = rest.slice(index);
    if (suffix[0]!.startsWith("-")) continue;
    const inside = [programName(suffix[0]!), ...suffix.slice(1)];
    search.found.push({ words: inside, writesTo: [] });
    if (SHELLS.has(inside[0]!) && inside[0] !== program) collectInner(inside, { ...search, depth: search.depth + 1 });
  }
}

function programName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}

/** Splits a text at everything that may end a command, with quotes and backslashes taken off. */
function scan(text: string): LooseCommand[] {
  return new LooseReader(text.replaceAll(/\\\r?\n/g, "").replaceAll(/\$(\{IFS\}|IFS\b)/g, " ")).read();
}
