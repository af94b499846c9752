import type { SafetyLevel } from "@hlvm/tools/tool-definition";
import type { CommandJudge } from "./command-rule.ts";
import { staysOperand } from "./shell-word.ts";

/** Left out on purpose: `-v` and `-R`, with which a shell evaluates the index of an array, commands in it included. */
const OPERATORS = new Set(
  ["a", "b", "c", "d", "e", "f", "g", "h", "k", "L", "n", "N", "o", "O", "G", "p", "r", "s", "S", "t", "u", "w", "x", "z"]
    .concat(["nt", "ot", "ef", "eq", "ne", "lt", "le", "gt", "ge"])
    .map((name) => `-${name}`),
);

/** L0 for questions about files, texts and numbers. */
export const judgeTest: CommandJudge = (words): SafetyLevel =>
  words.every((word) => staysOperand(word) || OPERATORS.has(word.text) || /^-\d+$/.test(word.text)) ? "L0" : "L2";

/** `[`, whose last word closes it. */
export const judgeBracket: CommandJudge = (words): SafetyLevel => (words.at(-1)?.text === "]" ? judgeTest(words.slice(0, -1)) : "L2");
