import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { readTasks } from "./read-tasks.ts";

/** A folder with a task; a text that is undefined is a file that is not there. */
function folderWith(files: Readonly<Record<string, string | undefined>> = {}): { folder: string; at: (path: string) => string } {
  const folder = temporaryFolder();
  const at = (path: string): string => join(folder, "one", path);
  const all = {
    "task.toml": "[agent]\ntimeout_sec = 9.5\n[verifier]\ntimeout_sec = 900\n[metadata.hlvm]\nturns = 3\n",
    "instruction.md": "do it",
    "environment/file": "x",
    "tests/test.sh": "exit 1",
    "solution/solve.sh": "true",
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(at(path)), { recursive: true });
    if (text !== undefined) writeFileSync(at(path), text);
  }
  return { folder, at };
}

describe("readTasks", () => {
  it("reads our own twelve tasks, of which git keeps every file: a log was once left out", () => {
    const tasks = fileURLToPath(new URL("../../../../tests/eval/tasks", import.meta.url));
    expect(readTasks(tasks)).toHaveLength(12);
    const ignored = execFileSync("git", ["ls-files", "--others", "--ignored", "--exclude-standard", "."], { cwd: tasks, encoding: "utf8" });
    expect(ignored).toBe("");
  });

  it("reads what there is of a task and takes the usual for the rest, of a folder of tasks or of one", () => {
    const { folder, at } = folderWith();
    writeFileSync(join(folder, "notes.md"), "no task");
    const [task] = readTasks(folder);
    expect(task).toEqual({
      name: "one",
      folder: at("."),
      instruction: "do it",
      budget: { seconds: 10, turns: 3, tokens: 1_000_000 },
      checkSeconds: 60,
    });
    expect(readTasks(at("."))).toHaveLength(1);
  });

  it.each<[string, Readonly<Record<string, string | undefined>>, string]>([
    ["no TOML", { "task.toml": "turns = = 3" }, "Invalid TOML"],
    ["a budget of zero", { "task.toml": "[metadata.hlvm]\ntokens = 0" }, "tokens is no number from 1 on"],
    ["a budget in words", { "task.toml": '[agent]\ntimeout_sec = "long"' }, "timeout_sec is no number"],
    ["an empty instruction", { "instruction.md": " \n" }, "instruction.md is empty"],
    ["no check", { "tests/test.sh": undefined, "tests/other": "" }, "it has no tests/test.sh"],
    ["no files", { "environment/file": undefined, "environment/.git/config": "[core]" }, "git's own folder"],
  ])("says what is wrong: %s", (_, files, message) => {
    expect(() => readTasks(folderWith(files).folder)).toThrow(message);
  });

  it.each(["environment/link", "tests/link", "solution/link"])("sends no file of the caller's: %s is refused", (path) => {
    const { folder, at } = folderWith();
    symlinkSync("/etc/passwd", at(path));
    expect(() => readTasks(folder)).toThrow("is a link, or no file");
    rmSync(at(path));
    execFileSync("mkfifo", [at(path)]);
    expect(() => readTasks(folder)).toThrow("is a link, or no file");
  });

  it("refuses links in place of the folders and of the texts that it reads", () => {
    for (const path of ["environment", "tests", "instruction.md", "task.toml"]) {
      const { folder, at } = folderWith();
      rmSync(at(path), { recursive: true });
      symlinkSync(path.includes(".") ? "/etc/passwd" : "/etc", at(path));
      expect(() => readTasks(folder)).toThrow("is a link, or no file");
    }
  });

  it("names the image that it needs, and says where there are no tasks", () => {
    expect(readTasks(folderWith({ "environment/Dockerfile": "FROM x\nWORKDIR /app\nCOPY . .\n" }).folder)[0]).not.toHaveProperty("image");
    const { folder } = folderWith({ "environment/Dockerfile": "FROM x\nRUN y\n" });
    expect(readTasks(folder)[0]).toMatchObject({ image: expect.stringMatching(/^task-[\w.-]+:[0-9a-f]{12}$/) });
    const named = folderWith({ "task.toml": '[environment]\ndocker_image = "example/tools:1.0"\n' });
    expect(readTasks(named.folder)[0]).toMatchObject({ image: "example/tools:1.0" });
    expect(readTasks(folderWith({ "environment/docker-compose.yaml": "" }).folder)[0]).toMatchObject({
      unfit: "it needs several containers",
    });
    expect(() => readTasks(temporaryFolder())).toThrow("holds no task");
    expect(() => readTasks("/nowhere")).toThrow("holds no task");
  });
});
