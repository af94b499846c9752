import { isHarmlessAwk } from "./awk-program.ts";
import type { CommandJudge } from "./command-rule.ts";
import { staysOperand } from "./shell-word.ts";

/** `name=value`, before the first file or after `-v`. */
const ASSIGNMENT = /^[A-Za-z_]\w*=/;

/** L0 for a program without side effects, with `-F` and `-v` at most: other options read programs or write files. */
export const judgeAwk: CommandJudge = (words) => {
  let index = 0;
  for (; words[index]?.text.startsWith("-") === true; index += 1) {
    const { text, expansion } = words[index]!;
    if (expansion !== undefined) return "L2";
    if (text === "-F" || text === "-v") {
      index += 1;
      const value = words[index];
      if (value === undefined || value.text.startsWith("-") || (text === "-v" && !ASSIGNMENT.test(value.text))) return "L2";
      if (value.expansion !== undefined && (value.expansion !== "variable" || !staysOperand(value))) return "L2";
    } else if (!/^-F[^-]/.test(text) && !(text.startsWith("-v") && ASSIGNMENT.test(text.slice(2)))) return "L2";
  }
  const [program, ...operands] = words.slice(index);
  if (program === undefined || program.expansion !== undefined || !isHarmlessAwk(program.text)) return "L2";
  return operands.every(staysOperand) ? "L0" : "L2";
};
