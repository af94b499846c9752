import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { compareSettings } from "./compare-settings.ts";
import { readBaseline } from "./read-baseline.ts";

const folder = mkdtempSync(join(tmpdir(), "hlvm-baseline-"));
afterAll(() => rmSync(folder, { recursive: true }));

function written(...lines: readonly (object | string)[]): string {
  const file = join(folder, "baseline.ndjson");
  writeFileSync(file, lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));
  return file;
}

const trial = { type: "trial", task: "one", setting: "a/b", outcome: "passed" };

it("has the trials of what an evaluation printed, and leaves the rest", () => {
  const file = written({ ...trial, turns: 3 }, "", { type: "final", pass_rate: 1 }, { ...trial, outcome: "error" });
  expect(readBaseline(file)).toEqual([
    { task: "one", setting: "a/b", outcome: "passed" },
    { task: "one", setting: "a/b", outcome: "error" },
  ]);
});

it.each([
  ["half a line", [trial, '{"type":"tri']],
  ["another kind of file", ["# Notes"]],
  ["a trial without its outcome", [{ ...trial, outcome: "great" }]],
  ["a list", [[trial]]],
])("says which line is wrong of %s", (_, lines) => {
  const message = expect.stringContaining(`Line ${lines.length} of`);
  expect(() => readBaseline(written(...(lines as object[])))).toThrow(
    expect.objectContaining({ reason: "baseline_not_readable", message }),
  );
});

it("says so where there is no trial, and no file", () => {
  expect(() => readBaseline(written({ type: "final" }))).toThrow(/has no trial/);
  expect(() => readBaseline(join(folder, "absent"))).toThrow(/cannot be read: ENOENT/);
});

it("compares by task, and knows nothing of what the two have not in common", () => {
  const attempts = (task: string, outcomes: readonly ("passed" | "failed" | "error")[]) =>
    outcomes.map((outcome) => ({ task, setting: "x", outcome }));
  const before = [...attempts("one", ["passed", "passed"]), ...attempts("two", ["passed", "failed"])];
  const after = [...attempts("one", ["failed", "error"]), ...attempts("two", ["passed", "failed"]), ...attempts("new", ["failed"])];
  expect(compareSettings(before, after)).toEqual({ tasks: 2, difference: -0.5, low: -1, high: 0, detectable: 0.5 });
  expect(compareSettings(before, attempts("new", ["passed"]))).toMatchObject({ tasks: 0, low: -1, high: 1 });
});
