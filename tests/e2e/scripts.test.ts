import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram } from "./run-program.ts";
import { repositoryRoot } from "./test-mesh.ts";

const SCRIPTS = join(repositoryRoot, "scripts");
const imported = (name: string, file: string): string => `import { ${name} } from ${JSON.stringify(join(SCRIPTS, file))};`;
const PREPARE = imported("prepare", "prepare.mjs") + imported("orExplain", "prepare/not-prepared.mjs");

let empty: string;

beforeAll(() => {
  empty = mkdtempSync(join(tmpdir(), "hlvm-prepare-"));
});
afterAll(() => rmSync(empty, { recursive: true }));

/** On a machine where no program is to be found. */
const evaluate = (code: string, more: Readonly<Record<string, string>> = {}) =>
  runProgram(process.execPath, ["--input-type=module", "--eval", PREPARE + code], {
    cwd: empty,
    environment: { PATH: empty, HOME: empty, HLVM_DIR: empty, ...more },
  });

describe("the hlvm command", () => {
  it("runs by the name that npm gave it, as the README has it, and through a link to that", async () => {
    const byNpm = join(repositoryRoot, "node_modules", ".bin", "hlvm");
    const link = join(empty, "hlvm");
    symlinkSync(byNpm, link);
    for (const program of [byNpm, link])
      expect(await runProgram(program, ["--version"], { cwd: empty, environment: { PATH: process.env.PATH!, HOME: empty } })).toMatchObject(
        {
          code: 0,
          stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
        },
      );
  });
});

describe("what npm start prepares", () => {
  const prepare = "await orExplain(() => prepare({ directory: process.env.HLVM_DIR }));";

  it("is bubblewrap too, and where that cannot be installed it says how", async () => {
    expect(await evaluate(prepare)).toMatchObject({ code: 1, stderr: expect.stringContaining("bubblewrap") });
  });

  it("is no bubblewrap where a person has set HLVM_BWRAP", async () => {
    expect(await evaluate(prepare, { HLVM_BWRAP: "/opt/bwrap" })).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("npm test", () => {
  it("gives no count of tests that did not run, and fails", async () => {
    const environment = { PATH: process.env.PATH!, HOME: empty };
    const ended = await runProgram(process.execPath, [join(SCRIPTS, "test.mjs"), "--config", join(empty, "none.ts")], {
      cwd: repositoryRoot,
      environment,
    });
    expect(ended.code).toBe(1);
    expect(ended.stdout).not.toMatch(/\d+ passed/);
    expect(ended.stdout).toContain("there is no count");
  });
});

describe("npm start", () => {
  it("says in words that the folder that it was called from is not there any more", async () => {
    const environment = { PATH: process.env.PATH!, HOME: empty, HLVM_DIR: empty, INIT_CWD: join(empty, "gone") };
    const ended = await runProgram(process.execPath, [join(SCRIPTS, "start.mjs"), "status"], { cwd: repositoryRoot, environment });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain(`hlvm: cannot be run in ${join(empty, "gone")}`);
    expect(ended.stderr).not.toMatch(/\n\s+at /);
  });
});
