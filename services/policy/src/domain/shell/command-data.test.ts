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
const PLAIN_READS = new Set(["ls", "cat", "head", "tail", "wc", "grep", "rg", "pwd", "git-status", "git-log", "git-show"]);
/** Redirections, expansions and programs that are no part of the read. */
const NOT_PLAIN = /[<>$*]|- > |\| program|\bn -s seconds|-n -count|-c -count/;

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
