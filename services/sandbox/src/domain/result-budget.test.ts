import { expect, it } from "vitest";
import { ResultBudget } from "./result-budget.ts";
import type { ToolResult } from "./tool-event.ts";

const LIMIT = 2 * 1024 * 1024;

function resultOf(content: string): ToolResult {
  const resultBytes = Buffer.byteLength(content);
  return { success: true, content, summary: "done", errorCode: "", durationMilliseconds: 7, resultBytes, truncated: false, exitCode: 0 };
}

it("lets a run's results through up to the last byte, and cuts the one that goes beyond", () => {
  const budget = new ResultBudget();
  const half = resultOf("x".repeat(LIMIT / 2));
  expect(budget.fit("run", half)).toBe(half);
  expect(budget.fit("run", half)).toBe(half);
  expect(budget.fit("run", resultOf(""))).toMatchObject({ success: true });
  const cut = budget.fit("run", resultOf("y"));
  expect(cut.content).toMatch(/^\[The run has used up its 2097152 bytes/);
});

it("says of a call whose result is cut what it came to all the same", () => {
  const budget = new ResultBudget();
  budget.fit("run", resultOf("x".repeat(LIMIT)));
  const succeeded = resultOf("written");
  expect(budget.fit("run", succeeded)).toEqual({ ...succeeded, content: expect.stringContaining("used up"), truncated: true });
  const failed: ToolResult = { ...resultOf("broken"), success: false, summary: "exit code 1", errorCode: "command_failed", exitCode: 1 };
  expect(budget.fit("run", failed)).toEqual({ ...failed, content: expect.stringContaining("used up"), truncated: true });
});

it("cuts between characters, and says what it shows is not all", () => {
  const budget = new ResultBudget();
  budget.fit("run", resultOf("x".repeat(LIMIT - 3)));
  expect(budget.fit("run", resultOf("ää")).content).toMatch(/^ä\n\[The run has used up/);
});

it("counts each run by itself, and forgets the one that was used longest ago", () => {
  const budget = new ResultBudget();
  budget.fit("first", resultOf("x".repeat(LIMIT)));
  for (let run = 0; run < 15; run++) expect(budget.fit(`run-${run}`, resultOf("x")).truncated).toBe(false);
  expect(budget.fit("first", resultOf("x")).truncated).toBe(true);
  for (let run = 15; run < 31; run++) budget.fit(`run-${run}`, resultOf("x"));
  expect(budget.fit("first", resultOf("x")).truncated).toBe(false);
});
