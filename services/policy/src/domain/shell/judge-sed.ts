import type { CommandJudge } from "./command-rule.ts";
import { isHarmlessSed } from "./sed-script.ts";
import { staysOperand } from "./shell-word.ts";

const FLAGS = /^-[nErsuz]+$|^--(?:quiet|silent|regexp-extended|separate|null-data)$/;
/** `-e` alone or after flags without a value, as in `-ne`. */
const SCRIPT_FLAG = /^-[nErsuz]*e$/;

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
    if (script === undefined || script.expansion !== undefined || !isHarmlessSed(script.text)) return "L2";
    scripts += 1;
  }
  return scripts > 0 ? "L0" : "L2";
};
