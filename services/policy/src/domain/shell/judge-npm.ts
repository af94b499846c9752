import { fitsRule, type CommandJudge, type CommandRule } from "./command-rule.ts";

const place: CommandRule = { level: "L0", flags: "g", longFlags: ["global"], maximumOperands: 0 };
const list: CommandRule = {
  level: "L0",
  flags: "gal",
  longFlags: ["global", "all", "json", "long", "parseable", "production", "link"],
  longValueFlags: ["depth", "omit", "include"],
};

/** Subcommands that read what is installed. Every other runs scripts, writes, or asks the registry. */
const SUBCOMMANDS: Readonly<Record<string, CommandRule>> = { ls: list, list, ll: list, root: place, prefix: place };

/** L0 for `npm ls` and its like, and for the version. */
export const judgeNpm: CommandJudge = ([first, ...rest]) => {
  if (first === undefined || first.expansion !== undefined) return "L2";
  if (first.text === "-v" || first.text === "--version") return rest.length === 0 ? "L0" : "L2";
  const rule = Object.hasOwn(SUBCOMMANDS, first.text) ? SUBCOMMANDS[first.text]! : undefined;
  return rule !== undefined && fitsRule(rest, rule) ? "L0" : "L2";
};
