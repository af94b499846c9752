import type { SafetyLevel } from "@hlvm/tools/tool-definition";

/** Which uses of one program are of a low level. Whatever a rule does not name makes the command L2. */
export interface CommandRule {
  readonly level: Exclude<SafetyLevel, "L2">;
  /** Letters of flags without a value; they may stand together as in `-la`. */
  readonly flags?: string;
  /** Letters of flags with a value, in the same word or the next. */
  readonly valueFlags?: string;
  /** `--name`, without the dashes; never abbreviated. */
  readonly longFlags?: readonly string[];
  /** `--name=value` or `--name value`. */
  readonly longValueFlags?: readonly string[];
  /** `--name` or `--name=value`, where a following word is no value. */
  readonly longOptionalFlags?: readonly string[];
  /** `-20` as head and git log take it. */
  readonly numberFlag?: true;
  /** Most operands that it may have; left out, any number. */
  readonly maximumOperands?: number;
  readonly minimumOperands?: number;
  /** What every operand has to look like; left out, anything. */
  readonly operand?: (word: string, index: number) => boolean;
}

/** A program whose arguments have a grammar of their own. Gets the words after the program's name. */
export type CommandJudge = (words: readonly string[]) => SafetyLevel;

/**
 * Whether the words after the program's name fit the rule. A value in a word of its own may not look like a flag: should
 * the program read the flag before it differently than the rule does, nothing is smuggled in.
 */
export function fitsRule(words: readonly string[], rule: CommandRule): boolean {
  const operands: string[] = [];
  let optionsEnded = false;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index]!;
    if (optionsEnded || word === "-" || !word.startsWith("-")) {
      operands.push(word);
      continue;
    }
    if (word === "--") {
      optionsEnded = true;
      continue;
    }
    const taken = word.startsWith("--") ? takeLong(word, words[index + 1], rule) : takeShort(word, words[index + 1], rule);
    if (taken === undefined) return false;
    index += taken;
  }
  if (operands.length > (rule.maximumOperands ?? Infinity) || operands.length < (rule.minimumOperands ?? 0)) return false;
  return rule.operand === undefined || operands.every(rule.operand);
}

/** How many further words belong to the flag; undefined where the flag is not allowed. */
function takeLong(word: string, next: string | undefined, rule: CommandRule): number | undefined {
  const [, name = "", value] = /^--([^=]*)(=.*)?$/.exec(word) ?? [];
  if (rule.longFlags?.includes(name) === true && value === undefined) return 0;
  if (rule.longOptionalFlags?.includes(name) === true) return 0;
  if (rule.longValueFlags?.includes(name) !== true) return undefined;
  if (value !== undefined || next === undefined) return 0;
  return isFlag(next) ? undefined : 1;
}

function takeShort(word: string, next: string | undefined, rule: CommandRule): number | undefined {
  if (rule.numberFlag === true && /^-\d+$/.test(word)) return 0;
  for (let at = 1; at < word.length; at += 1) {
    const letter = word[at]!;
    if (rule.flags?.includes(letter) === true) continue;
    if (rule.valueFlags?.includes(letter) !== true) return undefined;
    if (at < word.length - 1) return 0;
    return next === undefined || isFlag(next) ? undefined : 1;
  }
  return 0;
}

function isFlag(word: string): boolean {
  return word.startsWith("-") && !/^-(\d.*)?$/.test(word);
}
