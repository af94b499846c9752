import type { CommandRule } from "./command-rule.ts";

const grep: CommandRule = {
  level: "L0",
  anyOption: true,
  numberFlag: true,
  flags: "EFGPabchHiIlLnoqrRsTUvVwxyzZ",
  valueFlags: "ABCDdefm",
  longFlags: [
    "extended-regexp",
    "fixed-strings",
    "basic-regexp",
    "perl-regexp",
    "ignore-case",
    "no-ignore-case",
    "invert-match",
    "word-regexp",
  ]
    .concat(["line-regexp", "count", "files-with-matches", "files-without-match", "only-matching", "quiet", "no-messages", "byte-offset"])
    .concat(["with-filename", "no-filename", "line-number", "initial-tab", "null", "text", "recursive", "dereference-recursive"]),
  longValueFlags: ["regexp", "file", "max-count", "after-context", "before-context", "context", "label", "binary-files", "devices"].concat([
    "directories",
    "exclude",
    "exclude-from",
    "exclude-dir",
    "include",
  ]),
  longOptionalFlags: ["color", "colour"],
};

/**
 * Programs that search. Left out on purpose: `rg --pre` and `--hostname-bin` run a program, `-z` runs decompressors;
 * `fd -x`, `-X` and `-l` run programs.
 */
export const searchRules: Readonly<Record<string, CommandRule>> = {
  grep,
  egrep: grep,
  fgrep: grep,
  rg: {
    level: "L0",
    flags: "0.abcFHhiIlLNnopPqsSuUvwx",
    valueFlags: "ABCdEefgjmMrtT",
    longFlags: [
      "files",
      "files-with-matches",
      "files-without-match",
      "fixed-strings",
      "hidden",
      "ignore-case",
      "smart-case",
      "case-sensitive",
    ]
      .concat([
        "no-ignore",
        "no-ignore-vcs",
        "line-number",
        "no-line-number",
        "no-filename",
        "with-filename",
        "heading",
        "no-heading",
        "column",
      ])
      .concat(["count", "count-matches", "multiline", "multiline-dotall", "word-regexp", "line-regexp", "invert-match", "only-matching"])
      .concat([
        "passthru",
        "json",
        "stats",
        "trim",
        "vimgrep",
        "quiet",
        "follow",
        "null",
        "pcre2",
        "text",
        "unrestricted",
        "type-list",
        "no-messages",
      ]),
    longValueFlags: [
      "after-context",
      "before-context",
      "context",
      "glob",
      "iglob",
      "type",
      "type-not",
      "max-count",
      "max-depth",
      "max-columns",
    ].concat(["max-filesize", "regexp", "file", "replace", "sort", "sortr", "color", "colors", "encoding", "ignore-file", "threads"]),
  },
  fd: {
    level: "L0",
    flags: "0aFgHiILpsu",
    valueFlags: "cdeEjoSt",
    longFlags: [
      "hidden",
      "no-ignore",
      "absolute-path",
      "follow",
      "full-path",
      "glob",
      "fixed-strings",
      "case-sensitive",
      "ignore-case",
      "print0",
    ],
    longValueFlags: [
      "type",
      "extension",
      "exclude",
      "max-depth",
      "min-depth",
      "exact-depth",
      "size",
      "changed-within",
      "changed-before",
      "color",
    ],
  },
};
