import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram } from "./run-program.ts";
import { repositoryRoot } from "./test-mesh.ts";

const PREPARE = `const { prepare, orExplain } = await import(${JSON.stringify(join(repositoryRoot, "scripts", "prepare.mjs"))});
await orExplain(() => prepare({ directory: process.env.HLVM_DIR }));`;

let empty: string;

beforeAll(() => {
  empty = mkdtempSync(join(tmpdir(), "hlvm-prepare-"));
});
afterAll(() => rmSync(empty, { recursive: true }));

/** On a machine where no program is to be found. */
const prepare = (more: Readonly<Record<string, string>>) =>
  runProgram(process.execPath, ["--input-type=module", "--eval", PREPARE], {
    cwd: empty,
    environment: { PATH: empty, HOME: empty, HLVM_DIR: empty, ...more },
  });

describe("what npm start prepares", () => {
  it("is bubblewrap too, and where that cannot be installed it says how", async () => {
    expect(await prepare({})).toMatchObject({ code: 1, stderr: expect.stringContaining("bubblewrap") });
  });

  it("is no bubblewrap where a person has set HLVM_BWRAP", async () => {
    expect(await prepare({ HLVM_BWRAP: "/opt/bwrap" })).toMatchObject({ code: 0, stderr: "" });
  });
});
