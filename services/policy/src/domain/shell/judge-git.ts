import type { SafetyLevel } from "@hlvm/tools/tool-definition";
import { fitsRule, type CommandJudge, type CommandRule } from "./command-rule.ts";
import { literalTexts, shellWord, type ShellWord } from "./shell-word.ts";
import { isWorkspacePath } from "./workspace-path.ts";

const DIFF_FLAGS = [
  "stat",
  "numstat",
  "shortstat",
  "summary",
  "name-only",
  "name-status",
  "patch",
  "no-patch",
  "raw",
  "minimal",
  "patience",
  "histogram",
]
  .concat([
    "cached",
    "staged",
    "merge-base",
    "check",
    "full-index",
    "binary",
    "text",
    "ignore-all-space",
    "ignore-space-change",
    "ignore-blank-lines",
  ])
  .concat([
    "no-color",
    "no-renames",
    "no-ext-diff",
    "no-textconv",
    "quiet",
    "exit-code",
    "function-context",
    "compact-summary",
    "root",
    "no-prefix",
  ]);
const DIFF_OPTIONAL = ["color", "word-diff", "find-renames", "find-copies", "relative", "abbrev", "color-words", "dirstat"];
const LOG_FLAGS = [
  "oneline",
  "graph",
  "decorate",
  "all",
  "branches",
  "tags",
  "remotes",
  "merges",
  "no-merges",
  "first-parent",
  "reverse",
  "follow",
]
  .concat([
    "name-only",
    "name-status",
    "abbrev-commit",
    "no-abbrev-commit",
    "left-right",
    "cherry-pick",
    "topo-order",
    "date-order",
    "no-decorate",
  ])
  .concat([
    "regexp-ignore-case",
    "extended-regexp",
    "fixed-strings",
    "all-match",
    "invert-grep",
    "simplify-by-decoration",
    "full-history",
    "parents",
  ]);
const LOG_VALUES = ["author", "committer", "grep", "since", "until", "after", "before", "max-count", "skip", "date"];
const LOG_OPTIONAL = ["pretty", "format", "decorate", "branches", "tags", "remotes"];

const log: CommandRule = {
  level: "L0",
  numberFlag: true,
  flags: "bciEFmpqrstuwzgaPW",
  valueFlags: "nLSGU",
  optionalFlags: "MCB",
  longFlags: [...DIFF_FLAGS, ...LOG_FLAGS],
  longValueFlags: [...LOG_VALUES, "diff-filter", "unified"],
  longOptionalFlags: [...DIFF_OPTIONAL, ...LOG_OPTIONAL, "stat"],
};
const names: CommandRule = {
  level: "L0",
  flags: "adlqsth",
  longFlags: ["heads", "tags", "verify", "quiet", "all", "always", "long", "name-only"],
};

/** By subcommand. Left out on purpose: `--output`, `--ext-diff`, `--textconv`, `grep -O`, whatever edits, pages or contacts a remote. */
export const gitRules: Readonly<Record<string, CommandRule>> = {
  status: {
    level: "L0",
    flags: "bsvz",
    optionalFlags: "u",
    longFlags: ["short", "branch", "show-stash", "long", "verbose", "ahead-behind"],
    longOptionalFlags: ["porcelain", "untracked-files", "ignored", "column"],
  },
  log,
  show: log,
  shortlog: { level: "L0", flags: "censw", longFlags: ["all", "numbered", "summary", "email", "no-merges"], longValueFlags: LOG_VALUES },
  "rev-list": { level: "L0", numberFlag: true, valueFlags: "n", longFlags: ["all", "count", ...LOG_FLAGS], longValueFlags: LOG_VALUES },
  diff: {
    level: "L0",
    flags: "abpqRruswzW",
    valueFlags: "USGl",
    optionalFlags: "MCB",
    longFlags: [...DIFF_FLAGS, "no-index"],
    longValueFlags: ["diff-filter", "unified"],
    longOptionalFlags: [...DIFF_OPTIONAL, "stat"],
  },
  blame: {
    level: "L0",
    flags: "bcefklnpstw",
    valueFlags: "L",
    optionalFlags: "MC",
    longFlags: ["line-porcelain", "porcelain", "root", "show-email", "show-name"],
  },
  grep: {
    level: "L0",
    numberFlag: true,
    flags: "aEFGPhHiIlLnopqrvwWz",
    valueFlags: "ABCefm",
    longFlags: [
      "cached",
      "untracked",
      "no-index",
      "ignore-case",
      "word-regexp",
      "line-number",
      "files-with-matches",
      "name-only",
      "count",
      "heading",
    ].concat([
      "break",
      "show-function",
      "fixed-strings",
      "extended-regexp",
      "perl-regexp",
      "recurse-submodules",
      "and",
      "or",
      "not",
      "all-match",
    ]),
    longValueFlags: ["max-depth", "context", "after-context", "before-context"],
    longOptionalFlags: ["color"],
  },
  "ls-files": {
    level: "L0",
    flags: "cdmoikstuvz",
    valueFlags: "xX",
    longFlags: [
      "cached",
      "deleted",
      "modified",
      "others",
      "ignored",
      "stage",
      "exclude-standard",
      "full-name",
      "unmerged",
      "error-unmatch",
    ],
  },
  "ls-tree": { level: "L0", flags: "drtlz", longFlags: ["name-only", "name-status", "full-name", "full-tree", "long"] },
  "cat-file": { level: "L0", flags: "epst" },
  "rev-parse": {
    level: "L0",
    longFlags: [
      "verify",
      "show-toplevel",
      "git-dir",
      "is-inside-work-tree",
      "show-prefix",
      "show-cdup",
      "symbolic-full-name",
      "all",
      "quiet",
      "absolute-git-dir",
    ],
    longOptionalFlags: ["abbrev-ref", "short"],
  },
  describe: {
    ...names,
    longFlags: ["all", "tags", "always", "long", "contains"],
    longOptionalFlags: ["dirty", "abbrev"],
    longValueFlags: ["match"],
  },
  "show-ref": names,
  "merge-base": { level: "L0", flags: "a", longFlags: ["all", "is-ancestor", "fork-point"] },
  "name-rev": { level: "L0", longFlags: ["tags", "name-only", "always"] },
  "for-each-ref": { level: "L0", longFlags: ["merged"], longValueFlags: ["count", "sort", "format", "contains"] },
  "count-objects": { level: "L0", flags: "vH" },
  "check-ignore": { level: "L0", flags: "qvnz", longFlags: ["quiet", "verbose", "non-matching", "no-index"] },
  version: { level: "L0", maximumOperands: 0 },
  add: { level: "L1", flags: "Anuv", longFlags: ["all", "update", "intent-to-add", "verbose"], operand: (word) => isWorkspacePath(word) },
};

const BRANCH_LIST = {
  flags: "arvlq",
  longFlags: ["all", "remotes", "list", "show-current", "verbose", "no-color", "ignore-case"],
} as const;
const BRANCH_FILTER = ["contains", "no-contains", "merged", "no-merged", "points-at", "sort", "format"];

const NO_READING = new Set(["expire", "delete", "drop", "write"]);
const CONFIG_ACTIONS = new Set(["--get", "--get-all", "--get-regexp", "--list", "-l"]);
const CONFIG_MODIFIERS = new Set(["--global", "--local", "--system", "--show-origin", "--show-scope", "--name-only", "--null", "-z"]);

const isOneOf = (words: readonly ShellWord[], choices: readonly string[]): boolean =>
  words.length === 1 && words[0]!.expansion === undefined && choices.includes(words[0]!.text);

/** Words by which a command with two faces only lists. */
const LISTING: Readonly<Record<string, (words: readonly ShellWord[]) => boolean>> = {
  branch: (words) => {
    const takesPatterns = words.some(({ text }) => text === "--list" || text === "-l");
    return fitsRule(words, {
      level: "L0",
      ...BRANCH_LIST,
      longValueFlags: BRANCH_FILTER,
      ...(takesPatterns ? {} : { maximumOperands: 0 }),
    });
  },
  tag: (words) =>
    words.length === 0 ||
    (isOneOf(words.slice(0, 1), ["-l", "--list"]) &&
      fitsRule(words, { level: "L0", flags: "l", optionalFlags: "n", longFlags: ["list"], longValueFlags: BRANCH_FILTER })),
  remote: (words) =>
    words.length === 0 || isOneOf(words, ["-v", "--verbose"]) || (words.length === 2 && isOneOf(words.slice(0, 1), ["get-url"])),
  stash: (words) => isOneOf(words.slice(0, 1), ["list", "show"]) && fitsRule(words.slice(1), log),
  worktree: (words) => isOneOf(words.slice(0, 1), ["list"]) && fitsRule(words.slice(1), { level: "L0", longFlags: ["porcelain"] }),
  "symbolic-ref": (words) => fitsRule(words, { level: "L0", flags: "q", longFlags: ["short", "quiet"], maximumOperands: 1 }),
  reflog: (words) => !NO_READING.has(words[0]?.text ?? "") && words[0]?.expansion === undefined && fitsRule(words, log),
  config: (words) => {
    const texts = literalTexts(words)?.filter((word) => !CONFIG_MODIFIERS.has(word)) ?? [];
    return CONFIG_ACTIONS.has(texts[0] ?? "") && texts.length <= 2 && texts[1]?.startsWith("-") !== true;
  },
};

/** In a format or as a sort key it has gpg verify a signature, by a program that the configuration names. */
const VERIFIES = /%[-+ ]?G|%\([^)%]*signature|^(--sort=)?-?\*?signature\b/;

/**
 * git by its subcommand. Of the options before it only `--no-pager`, `--no-optional-locks` and `-C .` are taken: `-c` sets
 * programs to run, the others lead to another repository, whose configuration nobody looked at. What the workspace's own
 * configuration would run (hooks, fsmonitor, external diff) is switched off in the sandbox.
 */
export const judgeGit: CommandJudge = (words): SafetyLevel => {
  let index = 0;
  for (; words[index]?.text.startsWith("-") === true; index += 1) {
    const option = words[index]!.text;
    if (option === "--no-pager" || option === "--no-optional-locks") continue;
    if (option === "--version" && words.length === 1) return "L0";
    const folder = words[index + 1];
    if (option !== "-C" || folder?.expansion !== undefined || !/^\.\/?$/.test(folder?.text ?? "")) return "L2";
    index += 1;
  }
  const [subcommand = shellWord(""), ...rest] = words.slice(index);
  if (subcommand.expansion !== undefined) return "L2";
  // What a word of its own may become has to be a file or a revision: an option or a format may run something.
  if (
    rest.some(({ text, expansion }) => VERIFIES.test(text) || (expansion !== undefined && (expansion !== "glob" || text.startsWith("-"))))
  )
    return "L2";
  if (Object.hasOwn(LISTING, subcommand.text)) return LISTING[subcommand.text]!(rest) ? "L0" : "L2";
  if (!Object.hasOwn(gitRules, subcommand.text)) return "L2";
  const rule = gitRules[subcommand.text]!;
  return fitsRule(rest, rule) ? rule.level : "L2";
};
