import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { exportVersion } from "./export-version.ts";
import { upgrade } from "./upgrade.ts";
import { faultsInLogs } from "./version-faults.ts";

const ignore = (): void => undefined;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hlvm-upgrade-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe("upgrade", () => {
  it("replaces every service, replica by replica, while runs work and wait for a person", async () => {
    const before = exportVersion(undefined);
    const report = await upgrade({
      before,
      atOnce: 3,
      asking: 1,
      turns: 3,
      seed: 7,
      pauseMilliseconds: 200,
      limitMilliseconds: 150_000,
      onProgress: ignore,
    });
    expect({ failures: report.failures, faults: report.faults }).toEqual({ failures: [], faults: [] });
    expect(report.runs).toBeGreaterThanOrEqual(3);
    const twice = ["memory", "model-gateway", "orchestrator", "policy", "sandbox"].flatMap((name) => [`${name}-1`, `${name}-2`]);
    expect(report.replaced.map(({ part }) => part).toSorted()).toEqual(["edge", ...twice].toSorted());
    const started = (name: string): string[] =>
      readFileSync(join(report.folder, "logs", `${name}.log`), "utf8")
        .split("\n")
        .filter((line) => line.includes('"msg":"ready"'));
    for (const { part } of report.replaced) expect(started(part)).toHaveLength(2);
  }, 200_000);

  it("says what to do where there is no such commit", () => {
    expect(() => exportVersion("no-such-commit")).toThrow(/no commit no-such-commit.*git fetch --unshallow/);
  });

  it("finds in the logs what tells of versions that do not fit together, and nothing else", () => {
    mkdirSync(join(directory, "logs"));
    const lines = [
      { level: "warn", code: "Unimplemented", reason: "HTTP 404", method: "hlvm.run.v1.RunAnswersService/WatchAnswers" },
      { level: "error", err: { code: "42703", message: 'column "parked_until" does not exist' } },
      { level: "debug", err: { message: "[unimplemented]" }, msg: "watching for answers is tried again" },
      { level: "warn", code: "Unavailable", reason: "The orchestrator is stopping." },
    ];
    writeFileSync(join(directory, "logs", "policy-1.log"), lines.map((line) => JSON.stringify(line)).join("\n"));
    expect(faultsInLogs(directory)).toEqual([
      expect.stringMatching(/^policy-1\.log: unknown method: /),
      expect.stringMatching(/^policy-1\.log: schema: /),
    ]);
  });
});
