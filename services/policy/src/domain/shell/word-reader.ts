import type { ShellWord } from "./shell-word.ts";

/** What is done with one of a command's streams: `2>/dev/null`, `< FILE`, `2>&1`. */
export interface Redirection {
  readonly operator: string;
  /** Where it is written before the operator. */
  readonly descriptor?: number;
  readonly target: string;
}

/** One program with its arguments, as they stand between the operators. */
export interface CommandPart {
  readonly words: readonly ShellWord[];
  readonly redirections: readonly Redirection[];
}

/**
 * A shell parser that reads a command as parts joined by `&&`, `||`, `;` or `|`, each of words and redirections. Undefined: it
 * found anything else in it. Two of different make have to agree, so that one's mistake is not ours.
 */
export type WordReader = (command: string) => readonly CommandPart[] | undefined;

export function redirection(operator: string, descriptor: number | undefined, target: string): Redirection {
  return descriptor === undefined ? { operator, target } : { operator, descriptor, target };
}
