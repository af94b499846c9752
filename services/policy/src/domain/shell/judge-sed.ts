import type { CommandJudge } from "./command-rule.ts";
import { staysOperand } from "./shell-word.ts";

const FLAGS = /^-[nErsuz]+$|^--(?:quiet|silent|regexp-extended|separate|null-data)$/;
/** `-e` alone or after flags without a value, as in `-ne`. */
const SCRIPT_FLAG = /^-[nErsuz]*e$/;

/**
 * Between two delimiters. Where a delimiter stands behind a backslash or between brackets, seds differ about where the
 * expression ends: there is none in it.
 */
const expression = (delimiter: string): string =>
  String.raw`(?:[^\\[\]D]|\\[^D]|\[\^?(?:\[:[a-z]+:\]|[^\\[\]D])+\])`.replaceAll("D", delimiter);
const replacement = (delimiter: string): string => String.raw`(?:[^\\D]|\\[^D])*`.replaceAll("D", delimiter);

const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/${expression("/")}+/I?)`;
const ADDRESSES = String.raw`(?:${ADDRESS}(?:,(?:${ADDRESS}|[+~]\d+))? ?!?)?`;
const SUBSTITUTIONS = ["/", ",", "\\|", "#", ":", "@", "_", "%"].map(
  (delimiter) => `s${delimiter}${expression(delimiter)}*${delimiter}${replacement(delimiter)}${delimiter}[gpiI0-9]*`,
);
const COMMAND = `${ADDRESSES} ?(?:[pdDPhHgGxnN=]|[qQ]\\d*|${SUBSTITUTIONS.join("|")})`;
const SCRIPT = new RegExp(`^ *${COMMAND}(?: *; *${COMMAND})* *;? *$`);
/** Past this a script is none that somebody writes on a command line, and matching it takes time. */
const LONGEST = 500;

/** L0 for printing, deleting and substituting: its language also writes files and runs commands (`w`, `e`, `-i`). */
export const judgeSed: CommandJudge = (words) => {
  let scripts = 0;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index]!;
    if (FLAGS.test(word.text)) continue;
    const isScriptFlag = SCRIPT_FLAG.test(word.text);
    if (word.text.startsWith("-") && !isScriptFlag) return "L2";
    if (!isScriptFlag && scripts > 0) {
      if (!staysOperand(word)) return "L2";
      continue;
    }
    const script = isScriptFlag ? words[++index] : word;
    if (script === undefined || script.expansion !== undefined) return "L2";
    if (script.text.length > LONGEST || !SCRIPT.test(script.text)) return "L2";
    scripts += 1;
  }
  return scripts > 0 ? "L0" : "L2";
};
