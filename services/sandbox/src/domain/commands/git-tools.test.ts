import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openTestSandbox, type TestSandbox } from "../../testing/open-test-sandbox.ts";

let sandbox: TestSandbox;
const git = (...words: string[]): string =>
  execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false", ...words], {
    cwd: sandbox.workspace,
    encoding: "utf8",
    env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
  });
const put = (path: string, content: string | Buffer): void => writeFileSync(join(sandbox.workspace, path), content);
const defineFilters = (configuration: string | Buffer): void => appendFileSync(join(sandbox.workspace, ".git/config"), configuration);
const ran = (): boolean => existsSync(join(sandbox.workspace, "ran"));

/** Many filters, the evil one in their middle. */
function filters(count: number, name: string): string {
  const names = Array.from({ length: count }, (_, index) => (index === Math.floor(count / 2) ? "evil" : `${name}${index}`));
  return names.map((filter) => `[filter "${filter}"]\n\tclean = touch /workspace/ran; cat\n`).join("");
}

beforeAll(async () => {
  sandbox = await openTestSandbox();
});
afterAll(() => sandbox.close());

beforeEach(() => {
  for (const path of [".git", ".gitattributes", "a.txt", "ran", "sub"])
    rmSync(join(sandbox.workspace, path), { recursive: true, force: true });
  git("init", "--quiet", "--initial-branch=main");
  put("a.txt", "one\n");
  git("add", ".");
  git("commit", "--quiet", "--message=first");
});

describe("git_status, git_diff and git_log", () => {
  it("show branch, changes and commits", async () => {
    put("a.txt", "two\n");
    put("ran", "");
    expect(await sandbox.run("git_status", {})).toMatchObject({
      success: true,
      content: "## main\n M a.txt\n?? ran",
      summary: "main, 2 files changed",
    });
    expect(await sandbox.run("git_diff", {})).toMatchObject({
      success: true,
      content: expect.stringContaining("-one\n+two\n"),
      summary: "1 file changed",
    });
    expect((await sandbox.run("git_diff", { staged: true })).summary).toBe("no differences");
    expect((await sandbox.run("git_diff", { path: "ran" })).summary).toBe("no differences");
    expect(await sandbox.run("git_log", {})).toMatchObject({
      success: true,
      content: expect.stringMatching(/^[0-9a-f]{7,} \d{4}-\S+ Test: first$/),
      summary: "1 commit",
    });
  });

  it("compare with a commit or a branch, and say where there is none", async () => {
    put("a.txt", "two\n");
    git("commit", "--quiet", "--all", "--message=second");
    expect((await sandbox.run("git_diff", { reference: "HEAD~1" })).content).toContain("+two");
    expect(await sandbox.run("git_diff", { reference: "nosuch" })).toMatchObject({ success: false, errorCode: "not_found" });
  });

  it("say that a folder is no repository, and that a repository has no commits", async () => {
    rmSync(join(sandbox.workspace, ".git"), { recursive: true });
    for (const tool of ["git_status", "git_diff", "git_log"]) expect((await sandbox.run(tool, {})).errorCode).toBe("not_found");
    git("init", "--quiet");
    expect((await sandbox.run("git_log", {})).summary).toBe("no commits");
  });

  it("run no program that the repository's configuration names", async () => {
    put("program", "#!/bin/sh\ntouch /workspace/ran\ncat\n");
    execFileSync("chmod", ["+x", join(sandbox.workspace, "program")]);
    put(".gitattributes", "*.txt filter=evil diff=evil\n");
    const program = "/workspace/program";
    const settings = {
      "core.fsmonitor": program,
      "core.pager": program,
      "pager.status": program,
      "pager.diff": program,
      "pager.log": program,
      "core.hooksPath": "/workspace/hooks",
      "diff.external": program,
      "diff.evil.textconv": program,
      "diff.evil.command": program,
      "filter.evil.clean": program,
      "filter.evil.process": program,
      "filter.evil.required": "true",
      "gpg.program": program,
      "log.showSignature": "true",
      "core.sshCommand": program,
      "alias.status": `!${program}`,
    };
    for (const [name, value] of Object.entries(settings)) git("config", name, value);
    mkdirSync(join(sandbox.workspace, "hooks"), { recursive: true });
    for (const hook of ["post-index-change", "fsmonitor-watchman"])
      execFileSync("cp", [join(sandbox.workspace, "program"), join(sandbox.workspace, "hooks", hook)]);
    // The size stays, so that git has to read the file, and to filter it, to see the change.
    put("a.txt", "two\n");
    for (const [tool, given] of [
      ["git_status", {}],
      ["git_diff", {}],
      ["git_diff", { reference: "HEAD" }],
      ["git_log", {}],
    ] as const)
      expect(await sandbox.run(tool, given)).toMatchObject({ success: true });
    expect(ran()).toBe(false);
    rmSync(join(sandbox.workspace, "program"));
    rmSync(join(sandbox.workspace, "hooks"), { recursive: true });
  });

  it.each([
    ["an equals sign in its name", "a=b"],
    ["no name", ""],
    ["dots in its name", "a.b.c"],
  ])("run no filter with %s", async (_, filter) => {
    defineFilters(`[filter "${filter}"]\n\tclean = touch /workspace/ran; cat\n\trequired = true\n`);
    // The size stays, so that git has to read the file, and to filter it, to see the change.
    put("a.txt", "two\n");
    put(".gitattributes", `a.txt filter=${filter}\n`);
    expect(await sandbox.run("git_status", {})).toMatchObject({ success: true, content: expect.stringContaining(" M a.txt") });
    expect(await sandbox.run("git_diff", {})).toMatchObject({ success: true, content: expect.stringContaining("+two") });
    expect(ran()).toBe(false);
  });

  it.each([
    ["more filters than can be switched off", Buffer.from(filters(3_000, "x"))],
    ["names of filters that are too long together", Buffer.from(filters(100, "long-".repeat(200)))],
    ["a filter whose name is not text", Buffer.from('[filter "\xff"]\n\tclean = touch /workspace/ran; cat\n', "latin1")],
  ])("refuse a repository with %s", async (_, configuration) => {
    defineFilters(configuration);
    put("a.txt", "two\n");
    put(".gitattributes", Buffer.from("a.txt filter=evil\na.txt filter=\xff\n", "latin1"));
    for (const tool of ["git_status", "git_diff", "git_log"])
      expect(await sandbox.run(tool, {})).toMatchObject({
        success: false,
        errorCode: "unavailable",
        content: expect.stringContaining("filters"),
      });
    expect(ran()).toBe(false);
  });

  it("take nothing that looks like an option", async () => {
    for (const reference of ["--output=/workspace/ran", "--ext-diff", "-O/workspace/ran"])
      expect(await sandbox.run("git_diff", { reference })).toMatchObject({ success: false, errorCode: "invalid_arguments" });
    expect((await sandbox.run("git_diff", { path: "--output=/workspace/ran" })).success).toBe(true);
    expect((await sandbox.run("git_log", { path: "--output=ran" })).success).toBe(true);
    expect(ran()).toBe(false);
  });

  it("follow no crafted .git file, commondir or core.worktree out of the workspace", async () => {
    git("config", "core.worktree", "/etc");
    expect((await sandbox.run("git_status", {})).content).toBe("## main\n[nothing is changed]");
    rmSync(join(sandbox.workspace, ".git"), { recursive: true });
    put(".git", "gitdir: /tmp/elsewhere/.git\n");
    expect((await sandbox.run("git_status", {})).errorCode).toBe("not_found");
  });
});
