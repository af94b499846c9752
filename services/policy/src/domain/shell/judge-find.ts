import type { CommandJudge } from "./command-rule.ts";
import { staysOperand } from "./shell-word.ts";

const ALONE = new Set(
  ["print", "print0", "ls", "prune", "quit", "empty", "depth", "daystart", "mount", "xdev", "follow", "readable", "writable"]
    .concat(["executable", "noleaf", "not", "or", "o", "and", "a", "true", "false", "nouser", "nogroup", "H", "L", "P"])
    .map((name) => `-${name}`),
);
const WITH_VALUE = new Set(
  ["name", "iname", "path", "ipath", "wholename", "iwholename", "regex", "iregex", "regextype", "lname", "ilname", "type", "xtype"]
    .concat(["size", "mtime", "atime", "ctime", "mmin", "amin", "cmin", "newer", "anewer", "cnewer", "newermt", "maxdepth", "mindepth"])
    .concat(["perm", "user", "group", "uid", "gid", "links", "inum", "samefile", "fstype", "used", "printf"])
    .map((name) => `-${name}`),
);
const GROUPING = new Set(["!", "(", ")"]);

/**
 * L0 for an expression of tests and printing: no -exec, -ok, -delete, nothing that writes to a file, nothing abbreviated. A
 * glob may stand for folders or, where somebody forgot the quotes, after `-name`.
 */
export const judgeFind: CommandJudge = (words) => {
  if (words.some((word) => word.expansion !== undefined && !staysOperand(word))) return "L2";
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index]!.text;
    if (ALONE.has(word) || GROUPING.has(word) || !word.startsWith("-")) continue;
    if (!WITH_VALUE.has(word)) return "L2";
    const value = words[index + 1]?.text;
    if (value === undefined || (value.startsWith("-") && !/^-\d/.test(value) && word !== "-perm")) return "L2";
    if (word === "-perm" && !/^[-/]?[0-7ugoa=+,rwxXst]+$/.test(value)) return "L2";
    index += 1;
  }
  return "L0";
};
