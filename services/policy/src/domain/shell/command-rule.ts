import type { SafetyLevel } from "@hlvm/tools/tool-definition";
import { staysOperand, type ShellWord } from "./shell-word.ts";

/** Which uses of one program are of a low level. Whatever a rule does not name makes the command L2. */
export interface CommandRule {
  readonly level: Exclude<SafetyLevel, "L2">;
  /** Letters of flags without a value; they may stand together as in `-la`. */
  readonly flags?: string;
  /** Letters of flags with a value, in the same word or the next. */
  readonly valueFlags?: string;
  /** Letters of flags whose value, if any, is the rest of their word and never the next. */
  readonly optionalFlags?: string;
  /** Whole words that are flags, of programs that compare words and not letters: `-ps` of xxd is no `-p -s`. */
  readonly wordFlags?: readonly string[];
  /** The value of a short flag is always the next word; letters after it in its own are further flags. */
  readonly valuesApart?: true;
  /** `--name`, without the dashes; never abbreviated. */
  readonly longFlags?: readonly string[];
  /** `--name=value` or `--name value`. */
  readonly longValueFlags?: readonly string[];
  /** `--name` or `--name=value`, where a following word is no value. */
  readonly longOptionalFlags?: readonly string[];
  /** `--name first second`. */
  readonly longPairFlags?: readonly string[];
  /** `-20` as head and git log take it. */
  readonly numberFlag?: true;
  /** No option of the program writes a file or starts a program: what a word expands to may be one. */
  readonly anyOption?: true;
  /** Its first operand ends the options: what looks like one behind it is a file, which may be written. */
  readonly optionsFirst?: true;
  /** Most operands that it may have; left out, any number. */
  readonly maximumOperands?: number;
  readonly minimumOperands?: number;
  /** What every operand has to look like; left out, anything. */
  readonly operand?: (word: string, index: number) => boolean;
}

/** A program whose arguments have a grammar of their own. Gets the words after the program's name. */
export type CommandJudge = (words: readonly ShellWord[]) => SafetyLevel;

/**
 * Whether the words after the program's name fit the rule. A value in a word of its own may not look like a flag: should
 * the program read the flag before it differently than the rule does, nothing is smuggled in. For the same reason a word
 * that expands has to begin with something that is written out, unless no option of the program does harm.
 */
export function fitsRule(words: readonly ShellWord[], rule: CommandRule): boolean {
  const operands: ShellWord[] = [];
  let optionsEnded = false;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index]!;
    if (optionsEnded || (rule.optionsFirst === true && operands.length > 0) || word.text === "-" || !word.text.startsWith("-")) {
      if (word.expansion === "split" || (!optionsEnded && !mayExpand(word, rule))) return false;
      operands.push(word);
      continue;
    }
    if (word.text === "--" && word.expansion === undefined) {
      optionsEnded = true;
      continue;
    }
    const taken = takeFlag(word, words.slice(index + 1, index + 3), rule);
    if (taken === undefined) return false;
    index += taken;
  }
  return fitsOperands(operands, rule);
}

function mayExpand(word: ShellWord, rule: CommandRule): boolean {
  return word.expansion === undefined || (rule.anyOption === true && word.expansion !== "split") || staysOperand(word);
}

function fitsOperands(operands: readonly ShellWord[], rule: CommandRule): boolean {
  const count = operands.some(({ expansion }) => expansion === "glob") ? Infinity : operands.length;
  if (rule.maximumOperands !== undefined && count > rule.maximumOperands) return false;
  if (operands.length < (rule.minimumOperands ?? 0)) return false;
  if (rule.operand === undefined) return true;
  return operands.every(({ text, expansion }, index) => expansion === undefined && rule.operand!(text, index));
}

/** How many further words belong to the flag; undefined where the flag is not allowed. */
function takeFlag(word: ShellWord, next: readonly ShellWord[], rule: CommandRule): number | undefined {
  if (word.expansion !== undefined) return expandsInValue(word, rule) ? 0 : undefined;
  if (rule.wordFlags?.includes(word.text) === true) return 0;
  return word.text.startsWith("--") ? takeLong(word.text, next, rule) : takeShort(word.text, next[0], rule);
}

/** `--include=*.ts`: whatever it expands to is that option with some value. */
function expandsInValue({ text, expansion }: ShellWord, rule: CommandRule): boolean {
  const name = /^--([a-z-]+)=/.exec(text)?.[1];
  return name !== undefined && expansion !== "split" && [...(rule.longValueFlags ?? []), ...(rule.longOptionalFlags ?? [])].includes(name);
}

function takeLong(word: string, next: readonly ShellWord[], rule: CommandRule): number | undefined {
  const [, name = "", value] = /^--([^=]*)(=.*)?$/.exec(word) ?? [];
  if (rule.longFlags?.includes(name) === true && value === undefined) return 0;
  if (rule.longOptionalFlags?.includes(name) === true) return 0;
  if (rule.longPairFlags?.includes(name) === true && value === undefined)
    return next.length === 2 && next.every((one) => isValue(one, rule)) ? 2 : undefined;
  if (rule.longValueFlags?.includes(name) !== true) return undefined;
  if (value !== undefined || next.length === 0) return 0;
  return isValue(next[0]!, rule) ? 1 : undefined;
}

function takeShort(word: string, next: ShellWord | undefined, rule: CommandRule): number | undefined {
  if (rule.numberFlag === true && /^-\d+$/.test(word)) return 0;
  for (let at = 1; at < word.length; at += 1) {
    const letter = word[at]!;
    if (rule.flags?.includes(letter) === true) continue;
    if (rule.optionalFlags?.includes(letter) === true) return 0;
    if (rule.valueFlags?.includes(letter) !== true) return undefined;
    if (at < word.length - 1) return rule.valuesApart === true ? undefined : 0;
    if (next === undefined) return rule.valuesApart === true ? undefined : 0;
    return isValue(next, rule) ? 1 : undefined;
  }
  return 0;
}

function isValue(word: ShellWord, rule: CommandRule): boolean {
  if (word.expansion === "glob" || !mayExpand(word, rule)) return false;
  return !word.text.startsWith("-") || /^-(\d.*)?$/.test(word.text);
}
