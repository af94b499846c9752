import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findNativeTool } from "@hlvm/tools/native-tools";
import { useCommandJudge } from "../../testing/use-command-judge.ts";
import { decide } from "../decide/decide.ts";
import type { PermissionMode } from "../decide/decision.ts";

const FOLDER = join(import.meta.dirname, "../../../../../../shared/attacks/data");
const reason = existsSync(FOLDER) ? "" : ` (skipped: the commands of GTFOBins and tldr-pages are not at ${FOLDER})`;

interface Sample {
  readonly tool: string;
  readonly command: string;
  readonly function?: string;
}
const samples = (file: string): Sample[] =>
  readFileSync(join(FOLDER, file), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Sample);

const MODES: readonly PermissionMode[] = ["default", "plan", "acceptEdits", "bypassPermissions", "dontAsk"];
/** The programs that read, by the names that tldr-pages gives them. A command of theirs reads but for what NOT_READING says. */
const READING = new Set(
  ["awk", "base64", "basename", "cat", "column", "comm", "cut", "date", "df", "diff", "dirname", "du", "echo", "env", "fd", "file", "find"]
    .concat(["git", "git-blame", "git-branch", "git-diff", "git-grep", "git-log", "git-show", "git-stash", "git-status", "grep", "head"])
    .concat(["hexdump", "id", "jq", "less", "ls", "md5sum", "nl", "node", "npm", "printf", "ps", "pwd", "readlink", "realpath", "rev"])
    .concat(["rg", "sed", "sha256sum", "sort", "stat", "strings", "tac", "tail", "tr", "tree", "type", "uname", "uniq", "wc", "which"])
    .concat(["whoami", "xxd", "yq"]),
);
const NOT_READING: readonly (readonly [string, RegExp])[] = [
  ["stands for some other program", /^(command|program|tldr|<)|[|&] program|^env .*\bprogram\b|-(count|seconds)\b/],
  ["writes to a file", />>? ?(path|file|\/dev\/tty)|^cat (- )?>|^sort -o|^xxd .*output_file|^(sed|yq) .*-i\b|^sed -i|^yq write/],
  ["starts a program or removes", /-exec\b|-delete\b|^fd .*-x\b|^sudo\b/],
  ["git that changes the repository", /^git (init|clone|commit|push|pull|reset|clean|add)\b|^git branch (-[md] |branch_name)/],
  ["git stash that changes files", /^git stash( -|$| (pop|drop|clear|apply))/],
  ["runs a project's or somebody's code", /^node($| (path|--watch|-e|-p|--no-lazy))|^npm (init|i|r)\b/],
];
/** Among them those that need neither redirections nor expansions, where no single one may ask. */
const PLAIN_READS = new Set(["ls", "cat", "head", "tail", "wc", "grep", "rg", "pwd", "git-status", "git-log", "git-show"]);
const NOT_PLAIN = /[<>$*]|- > |\| program|\bn -s seconds|-n -count|-c -count/;
const isReading = ({ tool, command }: Sample): boolean => READING.has(tool) && !NOT_READING.some(([, pattern]) => pattern.test(command));
const MOST_ASKED = 0.05;

describe.skipIf(reason !== "")(`commands that people really write${reason}`, () => {
  const { judge } = useCommandJudge();

  it("lets through nothing of GTFOBins but reads", () => {
    const allowed = samples("gtfobins.jsonl").filter(({ command }) => judge(command).level !== "L2");
    expect(allowed.filter((sample) => sample.function !== "file-read")).toEqual([]);
    console.log(`GTFOBins: ${allowed.length} of ${samples("gtfobins.jsonl").length} are L0 or L1, all of them file-read`);
  });

  it("does not ask about plain reads", () => {
    const reads = samples("everyday.jsonl").filter(({ tool, command }) => PLAIN_READS.has(tool) && !NOT_PLAIN.test(command));
    expect(reads.length).toBeGreaterThan(60);
    expect(reads.map(({ command }) => command).filter((command) => judge(command).level !== "L0")).toEqual([]);
  });

  it("asks about at most one in twenty everyday commands that read", () => {
    const reading = samples("everyday.jsonl").filter(isReading);
    const asked = reading.filter(({ command }) => judge(command).level !== "L0").map(({ command }) => command);
    const share = asked.length / reading.length;
    console.log(
      `${asked.length} of ${reading.length} everyday reading commands ask (${(share * 100).toFixed(1)} %):\n  ${asked.join("\n  ")}`,
    );
    expect(reading.length).toBeGreaterThan(280);
    expect(share).toBeLessThanOrEqual(MOST_ASKED);
  });

  it("prints which share is allowed, asked and denied in each mode", () => {
    const everyday = samples("everyday.jsonl");
    const definition = findNativeTool("shell_exec")!;
    const shares = MODES.map((mode) => {
      const counts = { mode, allow: 0, ask: 0, deny: 0 };
      for (const { command } of everyday) {
        const call = { definition, definitionHash: "", arguments: { value: { command }, json: "", hash: "" }, judgement: judge(command) };
        counts[decide({ call, settings: { mode, allowedTools: [], disallowedTools: [], canAsk: true }, allowances: [] }).decision] += 1;
      }
      return counts;
    });
    console.table(shares);
    const levels = everyday.map(({ command }) => judge(command).level);
    console.log(`L0 ${count(levels, "L0")}, L1 ${count(levels, "L1")}, L2 ${count(levels, "L2")} of ${everyday.length}`);
    const notAsked = shares.find(({ mode }) => mode === "bypassPermissions")!;
    expect(shares.find(({ mode }) => mode === "dontAsk")!.ask).toBe(0);
    expect(notAsked.allow).toBeGreaterThan(everyday.length * 0.95);
  });
});

function count(levels: readonly string[], level: string): number {
  return levels.filter((item) => item === level).length;
}
