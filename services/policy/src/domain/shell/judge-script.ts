import type { CommandJudge } from "./command-rule.ts";

/** `12`, `$`, `/text/`: without backslashes and brackets, in which seds differ about where an expression ends. */
const ADDRESS = String.raw`(?:\d+|\$|/[^/\\[\]]+/)`;
const SED_PRINT = new RegExp(`^${ADDRESS}(?:,${ADDRESS})?p$`);
const SED_SUBSTITUTE = /^s([/,|#:@])((?!\1)[^\\[\]])*\1((?!\1)[^\\])*\1[gip0-9]*$/;
const AWK_PRINT = /^(?:\/[^/\\[\]]+\/ ?)?\{ ?print(?: \$(?:\d+|NF)(?:, ?\$(?:\d+|NF))*)? ?\}$/;

/** L0 for `sed -n 5,20p` and plain substitutions: its language also writes files and runs commands (`w`, `e`, `-i`). */
export const judgeSed: CommandJudge = (words) => {
  let scripts = 0;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index]!;
    if (/^-[nErsuz]+$/.test(word) || word === "--quiet" || word === "--regexp-extended") continue;
    const isScriptFlag = word === "-e";
    if (word.startsWith("-") && !isScriptFlag) return "L2";
    if (!isScriptFlag && scripts > 0) continue;
    const script = isScriptFlag ? words[++index] : word;
    if (script === undefined || !(SED_PRINT.test(script) || SED_SUBSTITUTE.test(script))) return "L2";
    scripts += 1;
  }
  return scripts > 0 ? "L0" : "L2";
};

/** L0 for `awk '{print $1}'`, with a pattern and `-F` at most: its language also writes files and runs commands. */
export const judgeAwk: CommandJudge = (words) => {
  let index = 0;
  if (words[index] === "-F") index += 2;
  else if (/^-F[^-]/.test(words[index] ?? "")) index += 1;
  const script = words[index];
  if (script === undefined || !AWK_PRINT.test(script)) return "L2";
  return words.slice(index + 1).every((word) => !word.startsWith("-") && !word.includes("=")) ? "L0" : "L2";
};
