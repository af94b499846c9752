import type { SafetyLevel } from "@hlvm/tools/tool-definition";
import { fitsRule, type CommandJudge, type CommandRule } from "./command-rule.ts";
import { judgeFind } from "./judge-find.ts";
import { judgeGit } from "./judge-git.ts";
import { judgeAwk, judgeSed } from "./judge-script.ts";
import { readingRules } from "./reading-rules.ts";
import { searchRules } from "./search-rules.ts";
import { writingRules } from "./writing-rules.ts";

const RULES = new Map<string, CommandRule>(Object.entries({ ...readingRules, ...searchRules, ...writingRules, fdfind: searchRules.fd! }));
const TELL_VERSION = new Set([
  "node",
  "npm",
  "python",
  "python3",
  "pip",
  "cargo",
  "rustc",
  "gcc",
  "g++",
  "clang",
  "make",
  "cmake",
  "java",
  "ruby",
  "php",
]);

/** Programs whose own arguments are another command: that one is judged. What runs its command as root or in a shell is L2. */
const WRAPPERS: Readonly<Record<string, (words: readonly string[]) => readonly string[] | undefined>> = {
  env: (words) => (words[0] !== undefined && /^[A-Za-z0-9_.-]+$/.test(words[0]) && !words[0].startsWith("-") ? words : undefined),
  timeout: (words) => (/^\d+(\.\d+)?[smhd]?$/.test(words[0] ?? "") ? words.slice(1) : undefined),
  nice: (words) => (words[0] === "-n" && /^\d+$/.test(words[1] ?? "") ? words.slice(2) : words[0]?.startsWith("-") ? undefined : words),
};

const JUDGES: Readonly<Record<string, CommandJudge>> = {
  find: judgeFind,
  git: judgeGit,
  sed: judgeSed,
  awk: judgeAwk,
  // They take every word as text.
  echo: () => "L0",
  printf: (words) => (words.length > 0 && !words[0]!.startsWith("-") ? "L0" : "L2"),
  command: (words) => (words[0] === "-v" && words.length === 2 && !words[1]!.startsWith("-") ? "L0" : "L2"),
};

/** The level of one program with its arguments, by the list for that program; L2 where there is none. */
export function judgeWords(words: readonly string[]): SafetyLevel {
  const [program = "", ...rest] = words;
  if (program === "env" && rest.length === 0) return "L0";
  if (Object.hasOwn(WRAPPERS, program)) {
    const inner = WRAPPERS[program]!(rest);
    return inner === undefined || inner.length === 0 ? "L2" : judgeWords(inner);
  }
  if (Object.hasOwn(JUDGES, program)) return JUDGES[program]!(rest);
  if (TELL_VERSION.has(program)) return rest.length === 1 && rest[0] === "--version" ? "L0" : "L2";
  const rule = RULES.get(program);
  return rule !== undefined && fitsRule(rest, rule) ? rule.level : "L2";
}
