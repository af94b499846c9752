import type { SafetyLevel } from "@hlvm/tools/tool-definition";
import { fitsRule, type CommandJudge, type CommandRule } from "./command-rule.ts";
import { judgeAwk } from "./judge-awk.ts";
import { judgeFind } from "./judge-find.ts";
import { judgeGit } from "./judge-git.ts";
import { judgeNpm } from "./judge-npm.ts";
import { judgeSed } from "./judge-sed.ts";
import { judgeBracket, judgeTest } from "./judge-test.ts";
import { readingRules } from "./reading-rules.ts";
import { searchRules } from "./search-rules.ts";
import { literalTexts, type ShellWord } from "./shell-word.ts";
import { writingRules } from "./writing-rules.ts";

const RULES = new Map<string, CommandRule>(Object.entries({ ...readingRules, ...searchRules, ...writingRules, fdfind: searchRules.fd! }));

/** By which words alone a program tells its version. Not yarn and pnpm: they start the one that the project names. */
const VERSION_WORDS: Readonly<Record<string, readonly string[]>> = {
  node: ["-v", "--version"],
  python: ["-V", "--version"],
  python3: ["-V", "--version"],
  pip: ["-V", "--version"],
  cargo: ["-V", "--version"],
  rustc: ["-V", "--version"],
  gcc: ["-v", "--version"],
  "g++": ["-v", "--version"],
  clang: ["-v", "--version"],
  make: ["-v", "--version"],
  cmake: ["--version"],
  go: ["version"],
  java: ["-version", "--version"],
  ruby: ["-v", "--version"],
  php: ["-v", "--version"],
  perl: ["-v", "--version"],
};

/** Programs whose own arguments are another command: that one is judged. What runs its command as root or in a shell is L2. */
const WRAPPERS: Readonly<Record<string, (words: readonly ShellWord[]) => readonly ShellWord[] | undefined>> = {
  env: (words) => (/^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/.test(words[0]?.text ?? "") ? words : undefined),
  timeout: (words) => (/^\d+(\.\d+)?[smhd]?$/.test(words[0]?.text ?? "") ? words.slice(1) : undefined),
  nice: (words) =>
    words[0]?.text === "-n" && /^\d+$/.test(words[1]?.text ?? "")
      ? words.slice(2)
      : words[0]?.text.startsWith("-") === true
        ? undefined
        : words,
};

const JUDGES: Readonly<Record<string, CommandJudge>> = {
  find: judgeFind,
  git: judgeGit,
  npm: judgeNpm,
  sed: judgeSed,
  awk: judgeAwk,
  test: judgeTest,
  "[": judgeBracket,
  // They take every word as text, but for options of printf, which sets variables.
  echo: () => "L0",
  printf: (words) => (words[0] !== undefined && words[0].expansion === undefined && !words[0].text.startsWith("-") ? "L0" : "L2"),
  command: (words) => {
    const texts = literalTexts(words);
    return texts?.length === 2 && /^-[vV]$/.test(texts[0]!) && !texts[1]!.startsWith("-") ? "L0" : "L2";
  },
};

/** The level of one program with its arguments, by the list for that program; L2 where there is none. */
export function judgeWords(words: readonly ShellWord[]): SafetyLevel {
  const [first, ...rest] = words;
  if (first === undefined || first.expansion !== undefined) return "L2";
  const program = first.text;
  if (program === "env" && rest.length === 0) return "L0";
  if (Object.hasOwn(WRAPPERS, program)) {
    const inner = WRAPPERS[program]!(rest);
    return inner === undefined || inner.length === 0 ? "L2" : judgeWords(inner);
  }
  if (Object.hasOwn(JUDGES, program)) return JUDGES[program]!(rest);
  if (Object.hasOwn(VERSION_WORDS, program)) return tellsVersion(program, rest) ? "L0" : "L2";
  const rule = RULES.get(program);
  return rule !== undefined && fitsRule(rest, rule) ? rule.level : "L2";
}

function tellsVersion(program: string, words: readonly ShellWord[]): boolean {
  const [text, ...more] = literalTexts(words) ?? [];
  return text !== undefined && more.length === 0 && VERSION_WORDS[program]!.includes(text);
}
