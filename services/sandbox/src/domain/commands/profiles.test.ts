import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Enforcement } from "@hlvm/grant/grant";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openTestSandbox, type TestSandbox } from "../../testing/open-test-sandbox.ts";

const READ: Partial<Enforcement> = { level: "L0", profile: "read" };
const EDIT: Partial<Enforcement> = { level: "L1", profile: "edit" };
const CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";

let sandbox: TestSandbox;
const shell = (command: string, enforcement: Partial<Enforcement> = {}) => sandbox.run("shell_exec", { command }, { enforcement });
const at = (path: string): string => join(sandbox.workspace, path);
const put = (path: string, content: string): void => {
  mkdirSync(join(at(path), ".."), { recursive: true });
  writeFileSync(at(path), content);
};
const read = (path: string): string => readFileSync(at(path), "utf8");

beforeAll(async () => {
  sandbox = await openTestSandbox();
});
afterAll(() => sandbox.close());
beforeEach(() => {
  for (const name of readdirSync(sandbox.workspace)) rmSync(at(name), { recursive: true, force: true });
  for (const folder of ["hooks", "objects", "refs"]) mkdirSync(at(`.git/${folder}`), { recursive: true });
  put(".git/HEAD", "ref: refs/heads/main\n");
  put(".git/config", CONFIG);
  put("a.txt", "one\n");
});

describe("a command that was judged as reading", () => {
  it.each([
    "xxd -ps a.txt main.ts",
    "tree -PI -- a -o out",
    "touch made",
    "echo x > a.txt",
    "rm a.txt",
    "chmod 600 a.txt",
    "mkdir d",
    "ln a.txt b",
  ])("changes nothing, whatever it really does: %s", async (command) => {
    const before = statSync(at("a.txt")).mode;
    await shell(command, READ);
    expect(readdirSync(sandbox.workspace).sort()).toEqual([".git", "a.txt"]);
    expect(read("a.txt")).toBe("one\n");
    expect(statSync(at("a.txt")).mode).toBe(before);
  });

  it("leaves nothing that lives on, in its home, its temporary folder or as a process", async () => {
    expect((await shell("echo x > ~/.gitconfig; echo y > /tmp/y; (setsid sleep 300 &); echo ok", READ)).content).toBe("ok\n");
    expect((await shell("ls -A ~ /tmp /dev/shm; cat /proc/[0-9]*/comm | grep -c sleep", READ)).content).toMatch(
      /^\/dev\/shm:\n\n\/home\/hlvm:\n\n\/tmp:\n0\n/,
    );
  });

  it("reads no home that an allowed command has left, and neither does an edit; the next allowed one does", async () => {
    await shell(
      "echo '[alias] st = !sh evil.sh' > ~/.gitconfig; mkdir -p ~/.local/bin; printf '#!/bin/sh\\necho mine\\n' > ~/.local/bin/tool; chmod +x ~/.local/bin/tool",
    );
    for (const profile of [READ, EDIT]) expect((await shell("ls -A ~", profile)).content).toBe("[no output]");
    expect((await shell("tool")).content).toBe("mine\n");
  });
});

describe("git that a command starts", () => {
  const trap = (): void => {
    put("vendor/x/HEAD", "ref: refs/heads/main\n");
    put("vendor/x/config", '[core]\n\trepositoryformatversion = 0\n\tworktree = .\n\tfsmonitor = "touch /workspace/pwned;false"\n');
    for (const folder of ["objects", "refs"]) mkdirSync(at(`vendor/x/${folder}`));
  };

  it("takes no folder that only looks like a repository for one", async () => {
    trap();
    // Below L2 it is the workspace's own repository that answers.
    expect((await shell("git -C vendor/x status", READ)).content).toMatch(/^On branch main\n/);
    expect((await shell("git -C vendor/x status")).content).toContain("safe.bareRepository");
    expect(existsSync(at("pwned"))).toBe(false);
    expect(read(".git/config")).toBe(CONFIG);
  });

  it("runs no file system monitor and no hook of the repository, and reads no configuration of a home", async () => {
    execFileSync("git", ["init", "--quiet", at("own")]);
    execFileSync("git", ["-C", at("own"), "config", "core.fsmonitor", "touch /workspace/pwned;false"]);
    put("own/.git/hooks/pre-commit", "#!/bin/sh\ntouch /workspace/pwned\n");
    chmodSync(at("own/.git/hooks/pre-commit"), 0o755);
    put("own/f", "x");
    const commit =
      "cd own && git add f && git -c user.name=a -c user.email=a@b commit --quiet --message=m && git status --short && git log --oneline";
    const result = await shell(`echo '[core]\n\tfsmonitor = touch /workspace/pwned' > ~/.gitconfig; ${commit}`);
    expect(result).toMatchObject({ exitCode: 0, content: expect.stringMatching(/ m\n$/) });
    expect(existsSync(at("pwned"))).toBe(false);
  });

  it("fetches over no transport that runs a program", async () => {
    const result = await shell("git clone 'ext::sh -c touch% /workspace/pwned' x; git clone ssh://a/b y");
    expect(result.content).toContain("transport 'ext' not allowed");
    expect(result.content).toContain("transport 'ssh' not allowed");
    expect(existsSync(at("pwned"))).toBe(false);
  });
});

describe("an edit", () => {
  it.each(["write_file", "edit_file"])("goes through no link to what programs outside obey (%s)", async (tool) => {
    mkdirSync(at("docs"));
    symlinkSync("../.git/hooks", at("docs/notes"));
    symlinkSync(".git/config", at("cfg"));
    const given = tool === "write_file" ? { content: "x" } : { old_text: "core", new_text: "x" };
    for (const path of ["docs/notes/pre-commit", "cfg", ".git/config", "docs/notes/new/x", ".vscode/tasks.json", "a/.codex/config.toml"])
      expect(await sandbox.run(tool, { path, ...given }, { enforcement: EDIT })).toMatchObject({ success: false });
    expect((await sandbox.run("write_file", { path: "cfg", content: "x" }, { enforcement: EDIT })).errorCode).toBe("protected_path");
    expect(read(".git/config")).toBe(CONFIG);
    expect(readdirSync(at(".git/hooks"))).toEqual([]);
    expect(existsSync(at(".vscode"))).toBe(false);
  });

  it("writes the protected path that a person allowed, and no other", async () => {
    const enforcement = { protectedPaths: [".github/workflows/ci.yml"] };
    expect((await sandbox.run("write_file", { path: ".github/workflows/ci.yml", content: "on: push\n" }, { enforcement })).success).toBe(
      true,
    );
    expect(read(".github/workflows/ci.yml")).toBe("on: push\n");
    expect((await sandbox.run("write_file", { path: ".github/other.yml", content: "x" }, { enforcement })).errorCode).toBe(
      "protected_path",
    );
  });

  it("does not write through a hard link", async () => {
    linkSync(at(".git/config"), at("notes.txt"));
    expect((await sandbox.run("write_file", { path: "notes.txt", content: "x" }, { enforcement: EDIT })).success).toBe(true);
    expect(read(".git/config")).toBe(CONFIG);
  });

  it("by a command is put back where it came through a link, hard or not", async () => {
    symlinkSync(".git/config", at("cfg"));
    mkdirSync(at("docs"));
    symlinkSync("../.git/hooks", at("docs/notes"));
    for (const command of ["echo evil | tee cfg", "cp a.txt cfg", "echo evil | tee notes.txt", "cp a.txt docs/notes/pre-commit"]) {
      rmSync(at("notes.txt"), { force: true });
      linkSync(at(".git/config"), at("notes.txt"));
      const result = await shell(command, EDIT);
      expect({ command, ...result }).toMatchObject({
        success: false,
        errorCode: "protected_path",
        content: expect.stringContaining("put back"),
      });
      expect({ command, config: read(".git/config") }).toEqual({ command, config: CONFIG });
      expect(readdirSync(at(".git/hooks"))).toEqual([]);
    }
  });
});

describe("an allowed command that changes what programs outside obey", () => {
  it("has it put back and shown before its result is told", async () => {
    put("evil/.github/workflows/ci.yml", "on: push\n");
    put("evil/.vscode/tasks.json", "{}\n");
    put(".vscode/settings.json", "{}\n");
    const result = await shell(
      "cp -r evil/. . && git config core.fsmonitor evil && printf '#!/bin/sh\\n' > .git/hooks/pre-commit; rm .vscode/settings.json",
    );
    expect(result).toMatchObject({ success: false, errorCode: "protected_path", exitCode: 0 });
    expect(result.heldChange!.paths).toEqual([
      ".git/config",
      ".git/hooks/pre-commit",
      ".github",
      ".github/workflows",
      ".github/workflows/ci.yml",
      ".vscode/settings.json",
      ".vscode/tasks.json",
    ]);
    expect(result.heldChange!.diff).toContain("+\tfsmonitor = evil");
    expect(read(".git/config")).toBe(CONFIG);
    expect(existsSync(at(".github"))).toBe(false);
    expect(readdirSync(at(".git/hooks"))).toEqual([]);
    expect(readdirSync(at(".vscode"))).toEqual(["settings.json"]);
  });

  it("has it put back in the folders below too, where it was there before", async () => {
    execFileSync("git", ["init", "--quiet", at("packages/own")]);
    const config = read("packages/own/.git/config");
    put("packages/a/.vscode/tasks.json", "{}\n");
    put("node_modules/b/.vscode/tasks.json", "{}\n");
    const plant = "git -C packages/own config core.fsmonitor evil && echo x > packages/own/.git/hooks/pre-commit";
    const result = await shell(
      `${plant} && echo evil > packages/a/.vscode/tasks.json && mv packages/own packages/other && mv packages/other packages/own`,
    );
    expect(result).toMatchObject({ success: false, errorCode: "protected_path", exitCode: 0 });
    expect(result.heldChange!.paths).toEqual([
      "packages/a/.vscode/tasks.json",
      "packages/own/.git/config",
      "packages/own/.git/hooks/pre-commit",
    ]);
    expect(read("packages/own/.git/config")).toBe(config);
    expect(existsSync(at("packages/own/.git/hooks/pre-commit"))).toBe(false);
    expect(read("packages/a/.vscode/tasks.json")).toBe("{}\n");
    expect((await sandbox.run("keep_changes", result.heldChange!)).success).toBe(true);
    expect(read("packages/a/.vscode/tasks.json")).toBe("evil\n");
  });

  it("may set up, clone and remove repositories and packages in the folders below", async () => {
    execFileSync("git", ["init", "--quiet", at("own")]);
    put("gone/.github/workflows/ci.yml", "on: push\n");
    expect(await shell("git -C own remote add origin https://example.org/x.git && rm -rf gone && git init --quiet new")).toMatchObject({
      success: true,
    });
    expect([existsSync(at("gone")), existsSync(at("new/.git/config"))]).toEqual([false, true]);
  });

  it("has it put back also where many commands change it at the same time", async () => {
    const plant = (index: number): string => `mkdir -p .git/hooks; sleep 0.0${index}; cp a.txt .git/hooks/post-checkout-${index}`;
    const results = await Promise.all(Array.from({ length: 8 }, (_, index) => shell(plant(index))));
    expect(readdirSync(at(".git/hooks"))).toEqual([]);
    const shown = results.flatMap(({ heldChange }) => heldChange?.paths ?? []);
    expect(new Set(shown).size).toBe(8);
  });

  it("keeps what a person then allows, once, and only what was shown", async () => {
    const { heldChange } = await shell("printf '#!/bin/sh\\nexit 0\\n' > .git/hooks/pre-push; chmod +x .git/hooks/pre-push");
    const other = { ...heldChange!, diff: "harmless" };
    expect(await sandbox.run("keep_changes", other)).toMatchObject({ success: false, errorCode: "invalid_arguments" });
    expect(await sandbox.run("keep_changes", heldChange!)).toMatchObject({ success: true, summary: "1 change kept" });
    expect(read(".git/hooks/pre-push")).toBe("#!/bin/sh\nexit 0\n");
    expect(statSync(at(".git/hooks/pre-push")).mode & 0o111).not.toBe(0);
    expect(await sandbox.run("keep_changes", heldChange!)).toMatchObject({ success: false, errorCode: "not_found" });
    expect((await shell("true")).success).toBe(true);
  });

  it("may set up branches, remotes and a new repository without being asked about", async () => {
    expect(await shell("git remote add origin https://example.org/x.git && git config branch.main.remote origin")).toMatchObject({
      success: true,
    });
    expect(read(".git/config")).toContain("https://example.org/x.git");
    rmSync(at(".git"), { recursive: true });
    expect(await shell("git init --quiet && git config user.name Ada")).toMatchObject({ success: true });
    expect(existsSync(at(".git/hooks"))).toBe(true);
  });

  it.each([
    ["another address for a remote", "git config remote.origin.url https://example.com/evil.git"],
    ["a program as an address", "git config remote.x.url 'ext::sh -c evil'"],
    ["a line that is not read plainly", "printf '[core] fsmonitor = evil\\n' >> .git/config"],
    ["a folder of hooks", "git config core.hooksPath /workspace/hooks"],
    ["another repository's configuration", "printf '[include]\\n\\tpath = ../evil\\n' >> .git/config"],
    ["a file in the place of the repository", "mv .git kept && echo 'gitdir: kept' > .git"],
    ["a file that may be run by now", "chmod 777 .git/config"],
    ["a link in the place of the hooks", "rmdir .git/hooks; ln -s ../evil .git/hooks"],
  ])("is asked about: %s", async (_, command) => {
    await shell("git remote add origin https://example.org/x.git");
    chmodSync(at(".git/config"), 0o664);
    const before = read(".git/config");
    expect(await shell(command)).toMatchObject({ success: false, errorCode: "protected_path" });
    const isMoved = command.startsWith("mv");
    expect(existsSync(at(".git"))).toBe(!isMoved);
    const kept = isMoved ? "kept/config" : ".git/config";
    expect(read(kept)).toBe(before);
    expect(statSync(at(kept)).mode & 0o777).toBe(0o664);
  });
});
