import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestSandbox, type TestSandbox } from "../../testing/open-test-sandbox.ts";

let sandbox: TestSandbox;
const put = (path: string, content: string): void => {
  mkdirSync(join(sandbox.workspace, path, ".."), { recursive: true });
  writeFileSync(join(sandbox.workspace, path), content);
};

beforeAll(async () => {
  sandbox = await openTestSandbox();
});
afterAll(() => sandbox.close());

describe("search_code", () => {
  it("finds lines by a regular expression, in files that are not ignored", async () => {
    put(".gitignore", "ignored/\n");
    put("src/a.ts", "const answer = 42;\n");
    put("src/b.py", "answer: 42\n");
    put("ignored/c.ts", "answer = 42\n");
    const all = await sandbox.run("search_code", { pattern: "answer\\W+42" });
    expect(all).toMatchObject({
      success: true,
      content: "src/a.ts:1: const answer = 42;\nsrc/b.py:1: answer: 42",
      summary: "2 matches in 2 files",
    });
    expect((await sandbox.run("search_code", { pattern: "ANSWER", ignore_case: true, glob: "*.py" })).content).toBe(
      "src/b.py:1: answer: 42",
    );
    expect((await sandbox.run("search_code", { pattern: "= 42;", literal: true, path: "src" })).content).toBe(
      "src/a.ts:1: const answer = 42;",
    );
    expect((await sandbox.run("search_code", { pattern: "42", path: "src/b.py" })).content).toBe("src/b.py:1: answer: 42");
    expect(await sandbox.run("search_code", { pattern: "nothing like it" })).toMatchObject({ success: true, summary: "no match" });
  });

  it("stops at the number of results asked for", async () => {
    put("many/lines.txt", "needle\n".repeat(500));
    const result = await sandbox.run("search_code", { pattern: "needle", path: "many", maximum_results: 7 });
    expect(result.truncated).toBe(true);
    expect(result.summary).toBe("7+ matches in 1 file");
    expect(result.content.split("\n")).toHaveLength(8);
  });

  it("takes a pattern that looks like an option as a pattern, and does not look into files over 1 MB", async () => {
    put("options/a.txt", "--pre=sh\n");
    put("options/large.txt", `--pre=sh\n${"x\n".repeat(600_000)}`);
    expect((await sandbox.run("search_code", { pattern: "--pre=sh", path: "options" })).content).toBe("options/a.txt:1: --pre=sh");
  });

  it("explains a broken expression", async () => {
    const result = await sandbox.run("search_code", { pattern: "a(" });
    expect(result).toMatchObject({ success: false, errorCode: "invalid_arguments", content: expect.stringContaining("unclosed group") });
  });
});

describe("shell_exec", () => {
  it("lets a command that prints over 2 MB run to its end, and says how much was left out", async () => {
    const result = await sandbox.run("shell_exec", {
      command: "echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo; touch done; echo last",
    });
    const left = 5_000_012 - 30 * 1024;
    expect(result).toMatchObject({ success: true, exitCode: 0, resultBytes: 5_000_012, truncated: true });
    expect(result.content).toMatch(new RegExp(`^first\nx+\n\\[… ${left} bytes left out …\\]\nx+\nlast\n$`));
    expect(Buffer.byteLength(result.output)).toBe(2 * 1024 * 1024);
    expect((await sandbox.run("shell_exec", { command: "ls done; rm done" })).content).toBe("done\n");
  });

  it("runs a command line in the workspace and tells its code", async () => {
    const result = await sandbox.run("shell_exec", { command: "pwd; echo oops >&2; exit 3" });
    expect(result).toMatchObject({ success: false, errorCode: "command_failed", exitCode: 3, summary: "exit code 3" });
    expect(result.output).toBe("/workspace\noops\n");
    expect(result.content).toBe("/workspace\noops\n[exit code 3]");
  });

  it("runs in a folder below", async () => {
    mkdirSync(join(sandbox.workspace, "below"), { recursive: true });
    expect((await sandbox.run("shell_exec", { command: "pwd", working_directory: "below" })).content).toBe("/workspace/below\n");
  });

  it("streams output while the command runs", async () => {
    const first = Promise.withResolvers<string>();
    let isOver = false;
    const running = sandbox.run(
      "shell_exec",
      { command: "echo early; while [ ! -e go ]; do sleep 0.02; done; echo late" },
      { onOutput: first.resolve },
    );
    void running.then(() => (isOver = true));
    expect(await first.promise).toBe("early\n");
    expect(isOver).toBe(false);
    put("go", "");
    expect((await running).content).toBe("early\nlate\n");
  });

  it("knows that grep without a match is no failure", async () => {
    const result = await sandbox.run("shell_exec", { command: "echo a | grep b" });
    expect(result).toMatchObject({ success: true, exitCode: 1, content: "[exit code 1: grep found no match]" });
  });

  it("shows beginning and end of much output", async () => {
    const result = await sandbox.run("shell_exec", { command: "echo first; seq 1 100000; echo last" });
    expect(result).toMatchObject({ success: true, truncated: true });
    expect(result.content).toMatch(/^first\n1\n/);
    expect(result.content).toMatch(/bytes left out …\]\n[^]*\nlast\n$/);
    expect(result.content.length).toBeLessThan(31_000);
    expect(result.output.length).toBe(result.resultBytes);
  });

  it("survives output that is not text", async () => {
    const result = await sandbox.run("shell_exec", { command: "head -c 3000 /dev/urandom; printf '\\303'; sleep 0.05; printf '\\244'" });
    expect(result.success).toBe(true);
    expect(result.output.endsWith("ä")).toBe(true);
  });

  it("ends a command at its own time limit, with all that it started", async () => {
    const result = await sandbox.run("shell_exec", { command: "echo begun; sleep 100 & sleep 100", timeout_seconds: 1 });
    expect(result).toMatchObject({ success: false, errorCode: "timeout" });
    expect(result.content).toContain("begun\n[The command was ended after 1 s.");
  });

  it("ends any tool at the limit of the call", async () => {
    const result = await sandbox.run("shell_exec", { command: "sleep 100" }, { timeoutMilliseconds: 200 });
    expect(result).toMatchObject({ success: false, errorCode: "timeout", content: expect.stringContaining("0.2 s") });
    expect(result.durationMilliseconds).toBeLessThan(2_000);
  });

  it("ends a daemon with the command that left it behind", async () => {
    const result = await sandbox.run("shell_exec", { command: "sleep 30 & echo started" });
    expect(result).toMatchObject({ success: true, content: "started\n" });
    expect(result.durationMilliseconds).toBeLessThan(5_000);
    expect((await sandbox.run("shell_exec", { command: "cat /proc/[0-9]*/comm" })).content).not.toContain("sleep");
  });

  it("runs calls in parallel", async () => {
    const meet = (own: string, other: string): string => `touch ${own}; while [ ! -e ${other} ]; do sleep 0.01; done; echo met`;
    const [one, two] = await Promise.all([
      sandbox.run("shell_exec", { command: meet("meet-a", "meet-b") }),
      sandbox.run("shell_exec", { command: meet("meet-b", "meet-a") }),
    ]);
    expect([one.content, two.content]).toEqual(["met\n", "met\n"]);
  });
});
