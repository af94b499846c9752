import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestSandbox, type TestSandbox } from "../../src/testing/open-test-sandbox.ts";

let sandbox: TestSandbox;
const put = (path: string, content: string | Buffer): void => {
  mkdirSync(join(sandbox.workspace, path, ".."), { recursive: true });
  writeFileSync(join(sandbox.workspace, path), content);
};
const at = (path: string): string => readFileSync(join(sandbox.workspace, path), "utf8");

/** Runs inside, with the tools as the runner has them: only there is the moment of the cancellation sure. */
const RUNNER = fileURLToPath(new URL("..", import.meta.url));
const CANCELLED_CALLS = `
  const runner = process.argv[2];
  const { runTool } = await import(runner + "/tools.ts");
  const { ToolFailure } = await import(runner + "/tool.ts");
  const cancel = new AbortController();
  const run = (tool, given) => runTool(tool, JSON.stringify(given), { signal: cancel.signal, writes: { readOnly: false, protectedPaths: [] } });
  const calls = [
    run("write_file", { path: "cancelled.txt", content: "new" }),
    run("edit_file", { path: "cancelled.txt", old_text: "old", new_text: "new" }),
    run("write_file", { path: "never-made.txt", content: "new" }),
  ];
  cancel.abort(new ToolFailure("cancelled", "The tool was cancelled."));
  console.log((await Promise.all(calls)).map(({ errorCode }) => errorCode).join(" "));
`;

beforeAll(async () => {
  sandbox = await openTestSandbox();
});
afterAll(() => sandbox.close());

describe("read_file", () => {
  it("gives a file with line numbers", async () => {
    put("short.txt", "one\ntwo\r\nthree");
    const result = await sandbox.run("read_file", { path: "short.txt" });
    expect(result).toMatchObject({
      success: true,
      content: "1\tone\n2\ttwo\n3\tthree",
      summary: "3 lines",
      resultBytes: 14,
      truncated: false,
    });
  });

  it("takes the path as it is inside and outside, too", async () => {
    put("named.txt", "x\n");
    expect((await sandbox.run("read_file", { path: "/workspace/named.txt" })).content).toBe("1\tx");
    expect((await sandbox.run("read_file", { path: join(sandbox.workspace, "named.txt") })).content).toBe("1\tx");
  });

  it("gives the beginning and the outline of a long file, and any range of it", async () => {
    const lines = Array.from({ length: 900 }, (_, index) => (index % 100 === 0 ? `## Part ${index}` : `text ${index}`));
    put("long.md", `${lines.join("\n")}\n`);
    const whole = await sandbox.run("read_file", { path: "long.md" });
    expect(whole.content).toContain("long.md has 900 lines");
    expect(whole.content).toContain("\nOutline:\n1: ## Part 0\n101: ## Part 100\n");
    expect(whole.truncated).toBe(true);
    const range = await sandbox.run("read_file", { path: "long.md", start_line: 101, end_line: 102 });
    expect(range.content).toBe("101\t## Part 100\n102\ttext 101");
    const past = await sandbox.run("read_file", { path: "long.md", start_line: 901 });
    expect(past).toMatchObject({ success: false, errorCode: "invalid_arguments", content: expect.stringContaining("has 900 lines") });
  });

  it("cuts a range that is too much to show, and says where to go on", async () => {
    put("wide.txt", `${"x".repeat(999)}\n`.repeat(300));
    const result = await sandbox.run("read_file", { path: "wide.txt", start_line: 1, end_line: 300 });
    expect(result.truncated).toBe(true);
    const next = Number(/go on with start_line (\d+)/.exec(result.content)?.[1]);
    expect(result.content).toContain(`\n ${next - 1}\t`);
    expect(Buffer.byteLength(result.content)).toBeLessThan(110_000);
  });

  it.each([
    ["large.txt", Buffer.alloc(2 * 1024 * 1024 + 1, 97), "too_large", "limit is 2097152"],
    ["binary.bin", Buffer.from([1, 2, 0, 3]), "binary_file", "binary file of 4 bytes"],
    ["latin1.txt", Buffer.from("caf\xe9 au lait\n", "latin1"), "invalid_utf8", "not valid UTF-8"],
  ])("refuses %s and says why", async (path, content, errorCode, words) => {
    put(path, content);
    const result = await sandbox.run("read_file", { path });
    expect(result).toMatchObject({ success: false, errorCode, content: expect.stringContaining(words) });
  });

  it("says what is not there, what is a folder and what may not be read", async () => {
    mkdirSync(join(sandbox.workspace, "folder"), { recursive: true });
    put("secret.txt", "x");
    chmodSync(join(sandbox.workspace, "secret.txt"), 0);
    execFileSync("mkfifo", [join(sandbox.workspace, "pipe")]);
    expect((await sandbox.run("read_file", { path: "nowhere.txt" })).errorCode).toBe("not_found");
    expect((await sandbox.run("read_file", { path: "short.txt/x" })).errorCode).toBe("not_found");
    expect((await sandbox.run("read_file", { path: "folder" })).errorCode).toBe("invalid_arguments");
    expect((await sandbox.run("read_file", { path: "secret.txt" })).errorCode).toBe("not_readable");
    expect((await sandbox.run("read_file", { path: "pipe" })).errorCode).toBe("binary_file");
  });

  it("says that an empty file is empty", async () => {
    put("empty.txt", "");
    expect(await sandbox.run("read_file", { path: "empty.txt" })).toMatchObject({ success: true, content: "empty.txt is empty." });
  });
});

describe("write_file", () => {
  it("makes a file and its folders, which belong to whoever owns the workspace", async () => {
    const result = await sandbox.run("write_file", { path: "new/deep/file.txt", content: "hello\n" });
    expect(result).toMatchObject({ success: true, summary: "created, 1 line" });
    expect(at("new/deep/file.txt")).toBe("hello\n");
    expect(statSync(join(sandbox.workspace, "new/deep/file.txt")).uid).toBe(statSync(sandbox.workspace).uid);
  });

  it("replaces a file in one step, keeps its mode, and leaves nothing beside it", async () => {
    put("tool/run.sh", "old");
    chmodSync(join(sandbox.workspace, "tool/run.sh"), 0o755);
    const before = statSync(join(sandbox.workspace, "tool/run.sh"));
    expect((await sandbox.run("write_file", { path: "tool/run.sh", content: "new" })).summary).toBe("replaced, 1 line");
    const after = statSync(join(sandbox.workspace, "tool/run.sh"));
    expect(at("tool/run.sh")).toBe("new");
    expect(after.mode).toBe(before.mode);
    expect(after.ino).not.toBe(before.ino);
    expect(readdirSync(join(sandbox.workspace, "tool"))).toEqual(["run.sh"]);
  });

  it("writes through a symbolic link that stays inside, and keeps the link", async () => {
    put("target/real.txt", "old");
    symlinkSync("target/real.txt", join(sandbox.workspace, "link.txt"));
    expect((await sandbox.run("write_file", { path: "link.txt", content: "new" })).success).toBe(true);
    expect(at("target/real.txt")).toBe("new");
    expect((await sandbox.run("file_stats", { path: "link.txt" })).content).toContain("symbolic link to target/real.txt");
  });

  it("refuses a folder, and content over the limit", async () => {
    mkdirSync(join(sandbox.workspace, "here"), { recursive: true });
    expect((await sandbox.run("write_file", { path: "here", content: "x" })).errorCode).toBe("invalid_arguments");
    expect((await sandbox.run("write_file", { path: "x/", content: "x" })).errorCode).toBe("invalid_arguments");
    // Within the schema's limit of characters, over the limit of bytes.
    expect((await sandbox.run("write_file", { path: "big.txt", content: "ä".repeat(1_500_000) })).errorCode).toBe("too_large");
    expect(existsSync(join(sandbox.workspace, "big.txt"))).toBe(false);
  });

  // Skipped for everybody but root, who alone may mount the small disk.
  it.skipIf(process.getuid!() !== 0)(
    "says that the disk is full, and leaves the old file (needs root, to mount a small disk)",
    async () => {
      const disk = mkdtempSync(join(tmpdir(), "hlvm-small-disk-"));
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", disk]);
      try {
        const workspace = join(disk, "workspace");
        mkdirSync(workspace);
        writeFileSync(join(workspace, "kept.txt"), "old");
        const small = await openTestSandbox({}, workspace);
        const result = await small.run("write_file", { path: "kept.txt", content: "x".repeat(1_000_000) });
        expect(result).toMatchObject({
          success: false,
          errorCode: "no_space",
          content: expect.stringContaining("disk of the workspace is full"),
        });
        expect(readFileSync(join(workspace, "kept.txt"), "utf8")).toBe("old");
        expect(readdirSync(workspace)).toEqual(["kept.txt"]);
        expect((await small.run("read_file", { path: "kept.txt" })).content).toBe("1\told");
        await small.close();
      } finally {
        execFileSync("umount", [disk]);
        rmSync(disk, { recursive: true });
      }
    },
  );
});

describe("edit_file", () => {
  it("replaces the one place and shows the diff", async () => {
    put("code.ts", "const a = 1;\nconst b = 2;\n");
    const result = await sandbox.run("edit_file", { path: "code.ts", old_text: "b = 2", new_text: "b = 3" });
    expect(result).toMatchObject({ success: true, summary: "1 place changed" });
    expect(result.content).toContain("-const b = 2;\n+const b = 3;");
    expect(at("code.ts")).toBe("const a = 1;\nconst b = 3;\n");
  });

  it("names the lines of a text that occurs more than once, or replaces all", async () => {
    put("twice.txt", "x\ny\nx\n");
    const refused = await sandbox.run("edit_file", { path: "twice.txt", old_text: "x", new_text: "z" });
    expect(refused).toMatchObject({
      success: false,
      errorCode: "no_match",
      content: expect.stringContaining("occurs 2 times in twice.txt, at lines 1, 3."),
    });
    expect(at("twice.txt")).toBe("x\ny\nx\n");
    expect((await sandbox.run("edit_file", { path: "twice.txt", old_text: "x", new_text: "$&", replace_all: true })).summary).toBe(
      "2 places changed",
    );
    expect(at("twice.txt")).toBe("$&\ny\n$&\n");
  });

  it("shows the nearest line where the text does not occur", async () => {
    put("indent.py", "def f():\n\treturn 1\n");
    const result = await sandbox.run("edit_file", { path: "indent.py", old_text: "    return 1", new_text: "    return 2" });
    expect(result).toMatchObject({
      success: false,
      errorCode: "no_match",
      content: expect.stringContaining("The nearest is at line 2:\n\treturn 1"),
    });
  });
});

describe("write_file and edit_file on one file at the same time", () => {
  it("lose no edit, by whatever path the file is named", async () => {
    const count = 40;
    put("shared/edited.txt", Array.from({ length: count }, (_, line) => `old ${line};\n`).join(""));
    symlinkSync("shared", join(sandbox.workspace, "folder-link"));
    symlinkSync("shared/edited.txt", join(sandbox.workspace, "file-link.txt"));
    const paths = [
      "shared/edited.txt",
      "/workspace/shared/../shared/edited.txt",
      join(sandbox.workspace, "shared/edited.txt"),
      "folder-link/edited.txt",
      "file-link.txt",
    ];
    const edits = Array.from({ length: count }, (_, line) =>
      sandbox.run("edit_file", { path: paths[line % paths.length], old_text: `old ${line};`, new_text: `new ${line};` }),
    );
    for (const result of await Promise.all(edits)) expect(result).toMatchObject({ success: true });
    expect(at("shared/edited.txt")).not.toContain("old");
  });

  it("write nothing once the call is cancelled, though they had begun", async () => {
    put("cancelled.txt", "old");
    put("cancel.mjs", CANCELLED_CALLS);
    cpSync(RUNNER, join(sandbox.workspace, "program"), { recursive: true });
    const { content } = await sandbox.run("shell_exec", { command: "/opt/hlvm/bin/node cancel.mjs /workspace/program" });
    expect(content).toBe("cancelled cancelled cancelled\n");
    expect(at("cancelled.txt")).toBe("old");
    expect(readdirSync(sandbox.workspace).filter((name) => name.startsWith("never-made") || name.startsWith(".hlvm-"))).toEqual([]);
  });
});

describe("list_files", () => {
  it("lists two levels, counts what lies deeper, and respects .gitignore", async () => {
    put("project/.gitignore", "build/\n*.log\n");
    for (const path of ["README.md", "src/a.ts", "src/deep/b.ts", "src/deep/er/c.ts", "build/x.js", "note.log", ".github/ci.yml"])
      put(`project/${path}`, "x");
    const result = await sandbox.run("list_files", { path: "project" });
    expect(result.content.split("\n")).toEqual([".github/ci.yml", ".gitignore", "README.md", "src/a.ts", "src/deep/ (2 files)"]);
    expect(result.summary).toBe("6 files");
    const deeper = await sandbox.run("list_files", { path: "project", depth: 4 });
    expect(deeper.content).toContain("src/deep/er/c.ts");
    const typescript = await sandbox.run("list_files", { path: "project", pattern: "**/*.ts" });
    expect(typescript.content.split("\n")).toEqual(["src/a.ts", "src/deep/b.ts", "src/deep/er/c.ts"]);
  });

  it("stops at 5,000 entries and says how many more there are", async () => {
    mkdirSync(join(sandbox.workspace, "many"), { recursive: true });
    for (let number = 0; number < 5_010; number++) writeFileSync(join(sandbox.workspace, `many/${number}`), "");
    const result = await sandbox.run("list_files", { path: "many" });
    expect(result.truncated).toBe(true);
    expect(result.content.split("\n")).toHaveLength(5_001);
    expect(result.content).toContain("[10 more entries;");
  });

  it("stops at 200,000 bytes, however few entries they are", async () => {
    const long = "n".repeat(240);
    mkdirSync(join(sandbox.workspace, "long"), { recursive: true });
    for (let number = 1_000; number < 2_000; number++) writeFileSync(join(sandbox.workspace, `long/${number}${long}`), "");
    const result = await sandbox.run("list_files", { path: "long" });
    expect(result.truncated).toBe(true);
    expect(Buffer.byteLength(result.content)).toBeLessThan(200_200);
    const lines = result.content.split("\n");
    expect(lines.at(-1)).toMatch(new RegExp(`^\\[${1_000 - (lines.length - 1)} more entries;`));
  });

  it("says what is not a folder and what is not a glob", async () => {
    put("plain.txt", "x");
    expect((await sandbox.run("list_files", { path: "plain.txt" })).errorCode).toBe("invalid_arguments");
    expect((await sandbox.run("list_files", { pattern: "a{b" })).errorCode).toBe("invalid_arguments");
    expect((await sandbox.run("list_files", { path: "nowhere" })).errorCode).toBe("not_found");
  });
});

describe("file_stats", () => {
  it("tells size, lines and mode", async () => {
    put("stats.txt", "a\nb\n");
    chmodSync(join(sandbox.workspace, "stats.txt"), 0o640);
    const { content } = await sandbox.run("file_stats", { path: "stats.txt" });
    expect(content).toMatch(/^path: stats\.txt\nkind: file\nsize: 4 bytes\nlines: 2\nmode: 0640\nmodified: \d{4}-/);
    put("stats.bin", Buffer.from([0, 1]));
    expect((await sandbox.run("file_stats", { path: "stats.bin" })).content).toContain("content: binary");
    expect((await sandbox.run("file_stats", { path: "." })).content).toContain("kind: folder");
  });
});
