import { describe, expect, it } from "vitest";
import { create } from "@bufbuild/protobuf";
import { CostSchema } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { reportLines, type Judged } from "./report.ts";
import type { Outcome } from "./run-trial.ts";

const SESSION = "7b1f6f0e-0d58-4d4e-9d0a-000000000001";

function trials(task: string, setting: string, outcomes: readonly Outcome[]): Judged[] {
  return outcomes.map((outcome, index) => ({
    task,
    setting,
    repeat: index + 1,
    trial: {
      outcome,
      why: outcome === "passed" ? "" : "it said \u001b[2J\nno",
      sessionId: SESSION,
      checkSessionId: "",
      turns: 2,
      tokens: 100,
      milliseconds: 1_500,
      denied: 1,
      cost: create(CostSchema, { nanoDollars: 2_000_000n, unpricedCalls: setting === "b/m" ? 1 : 0 }),
      asked: 0,
      errors: outcome === "error" ? 3 : 0,
    },
  }));
}

describe("reportLines", () => {
  const judged = [
    ...trials("one", "a/m", ["passed", "passed", "failed", "error"]),
    ...trials("one", "b/m", ["passed", "passed", "passed", "passed"]),
    ...trials("two", "a/m", ["failed", "failed"]),
    ...trials("two", "b/m", ["failed", "passed"]),
    ...trials("three", "b/m", ["error"]),
  ];
  const lines = reportLines(judged, new Map([["four", "its check\n passes"]])).split("\n");

  it("has a row a task and setting, in which errors count for nothing", () => {
    expect(lines[1]).toMatch(/^one +a\/m +2 of 3 +67 % \(21 %-94 %\) +100 % +0 % +3 +1\.0 +2\.0 +100 +\$0\.002\S* +1\.5$/);
    expect(lines[2]).toMatch(/^one +b\/m +4 of 4 +100 % \(51 %-100 %\) +100 % +100 % +0 .* at least \$0\.002/);
    expect(lines.find((line) => /^three +b/.test(line))).toMatch(/0 of 0 +- +- +- +3 /);
  });

  it("sums up by task, and compares with the first setting over the tasks that both have", () => {
    const text = lines.join("\n");
    expect(text).toMatch(/^all tasks +a\/m +33 % \(0 %-67 %\) +50 % +0 %$/m);
    expect(text).toMatch(/^b\/m against a\/m, paired by task: \+42 points \(\+33 to \+50\); about 8 could have been seen\.$/m);
  });

  it("names the sessions behind what did not pass, on one line each, and the tasks that are invalid", () => {
    expect(lines.filter((line) => line.startsWith("failed: ") || line.startsWith("error: "))).toHaveLength(6);
    expect(lines).toContain(`failed: one by a/m: it said ␛[2J ⏎ no (hlvm session show ${SESSION})`);
    expect(lines).toContain("invalid: four: its check ⏎ passes");
    expect(lines.join("\n")).not.toContain("\u001b");
    expect(reportLines([], new Map([["four", "why"]]))).toBe("No trial has ended.\ninvalid: four: why\n");
  });
});
