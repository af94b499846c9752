import type { SafetyLevel } from "@hlvm/tools/tool-definition";
import { fitsRule, type CommandJudge, type CommandRule } from "./command-rule.ts";
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
  flags: "bciEFmpqrstuwzga",
  valueFlags: "nLSGUMC",
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
const SUBCOMMANDS: Readonly<Record<string, CommandRule>> = {
  status: {
    level: "L0",
    flags: "bsvz",
    valueFlags: "u",
    longFlags: ["short", "branch", "show-stash", "long", "verbose", "ahead-behind"],
    longOptionalFlags: ["porcelain", "untracked-files", "ignored", "column"],
  },
  log,
  show: log,
  reflog: { ...log, operand: (word) => !["expire", "delete", "drop", "write"].includes(word) },
  shortlog: { level: "L0", flags: "censw", longFlags: ["all", "numbered", "summary", "email", "no-merges"], longValueFlags: LOG_VALUES },
  "rev-list": { level: "L0", numberFlag: true, valueFlags: "n", longFlags: ["all", "count", ...LOG_FLAGS], longValueFlags: LOG_VALUES },
  diff: {
    level: "L0",
    flags: "abBpqRruswzW",
    valueFlags: "CMUSGl",
    longFlags: [...DIFF_FLAGS, "no-index"],
    longValueFlags: ["diff-filter", "unified"],
    longOptionalFlags: [...DIFF_OPTIONAL, "stat"],
  },
  blame: {
    level: "L0",
    flags: "bcefklnpstw",
    valueFlags: "LCM",
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
  version: { level: "L0", maximumOperands: 0 },
  add: { level: "L1", flags: "Anuv", longFlags: ["all", "update", "intent-to-add", "verbose"], operand: (word) => isWorkspacePath(word) },
};

const BRANCH_LIST = {
  flags: "arvlq",
  longFlags: ["all", "remotes", "list", "show-current", "verbose", "no-color", "ignore-case"],
} as const;
const BRANCH_FILTER = ["contains", "no-contains", "merged", "no-merged", "points-at", "sort", "format"];

/** Words by which a command with two faces only lists. */
const LISTING: Readonly<Record<string, (words: readonly string[]) => boolean>> = {
  branch: (words) => {
    const takesPatterns = words.some((word) => word === "--list" || word === "-l");
    return fitsRule(words, {
      level: "L0",
      ...BRANCH_LIST,
      longValueFlags: BRANCH_FILTER,
      ...(takesPatterns ? {} : { maximumOperands: 0 }),
    });
  },
  tag: (words) =>
    words.length === 0 ||
    (/^(-l|--list)$/.test(words[0]!) && fitsRule(words, { level: "L0", flags: "ln", longFlags: ["list"], longValueFlags: BRANCH_FILTER })),
  remote: (words) =>
    words.length === 0 || (words.length === 1 && /^(-v|--verbose)$/.test(words[0]!)) || (words.length === 2 && words[0] === "get-url"),
  stash: (words) => (words[0] === "list" && words.length === 1) || (words[0] === "show" && fitsRule(words.slice(1), log)),
  config: (words) =>
    /^(--get|--get-all|--list|-l)$/.test(words[0] ?? "") && words.slice(1).every((word) => !word.startsWith("-")) && words.length <= 2,
};

/**
 * git by its subcommand. Of the options before it only `--no-pager` and `-C FOLDER` are taken: `-c` sets programs to run.
 * What a repository's own configuration would run (hooks, fsmonitor, external diff) is switched off in the sandbox.
 */
export const judgeGit: CommandJudge = (words): SafetyLevel => {
  let index = 0;
  let isElsewhere = false;
  for (; index < words.length && words[index]!.startsWith("-"); index += 1) {
    if (words[index] === "--no-pager") continue;
    if (words[index] === "--version" && words.length === 1) return "L0";
    if (words[index] !== "-C" || words[index + 1] === undefined || words[index + 1]!.startsWith("-")) return "L2";
    index += 1;
    isElsewhere ||= !isWorkspacePath(words[index]!);
  }
  const subcommand = words[index] ?? "";
  const rest = words.slice(index + 1);
  if (Object.hasOwn(LISTING, subcommand)) return LISTING[subcommand]!(rest) ? "L0" : "L2";
  if (!Object.hasOwn(SUBCOMMANDS, subcommand)) return "L2";
  const rule = SUBCOMMANDS[subcommand]!;
  return fitsRule(rest, rule) && (rule.level === "L0" || !isElsewhere) ? rule.level : "L2";
};
