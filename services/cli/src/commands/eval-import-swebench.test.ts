import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { readTasks } from "../eval/read-tasks.ts";
import { runHlvm } from "../testing/run-hlvm.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

const GIT = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main"];

interface Instance {
  readonly [field: string]: unknown;
  readonly instance_id: string;
}

/** A repository of which one file is wrong, and an instance that has it mended. Its tests are run by a shell. */
function repository(): { readonly folder: string; readonly instance: Instance } {
  const folder = temporaryFolder();
  const at = join(folder, "ada", "sum");
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(at, path)), { recursive: true });
    writeFileSync(join(at, path), text);
  };
  const git = (...words: string[]): string => execFileSync("git", [...GIT, ...words], { cwd: at, encoding: "utf8" });
  write("sum.sh", "echo $(($1 - $2))\n");
  write("conftest.py", "# ours\n");
  write("tests/old.sh", "true\n");
  symlinkSync("/etc/passwd", join(at, "link"));
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "base");
  const commit = git("rev-parse", "HEAD").trim();
  const patchOf = (files: Readonly<Record<string, string>>): string => {
    for (const [path, text] of Object.entries(files)) write(path, text);
    git("add", "-A");
    const patch = git("diff", "--cached", commit);
    git("reset", "-q", "--hard", commit);
    return patch;
  };
  const instance = {
    instance_id: "ada__sum-1",
    repo: "ada/sum",
    base_commit: commit,
    problem_statement: "sum.sh subtracts.",
    patch: patchOf({ "sum.sh": "echo $(($1 + $2))\n" }),
    test_patch: patchOf({ "tests/it's new.sh": '[ "$(sh sum.sh 1 2)" = 3 ] || { echo "1 and 2 are $(sh sum.sh 1 2)"; exit 1; }\n' }),
    FAIL_TO_PASS: JSON.stringify(["tests/it's new.sh"]),
    PASS_TO_PASS: [],
  };
  return { folder, instance };
}

async function importAll(instances: readonly (Instance | string)[], repositories: string, more: readonly string[] = []) {
  const to = temporaryFolder();
  const file = join(to, "instances.jsonl");
  writeFileSync(file, instances.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join("\n"));
  const words = ["eval", "import", "swebench", file, "--to", join(to, "tasks"), "--repositories", repositories, ...more];
  const running = runHlvm(words, {});
  const exitCode = await running.ended;
  return { exitCode, stdout: running.stdout, stderr: running.stderr, tasks: join(to, "tasks") };
}

/** What test.sh comes to beside these files, in a folder of its own. */
function checked(task: string, change: (folder: string) => void = () => undefined, first = ""): string {
  const folder = temporaryFolder();
  cpSync(join(task, "environment"), folder, { recursive: true });
  for (const name of ["tests", "solution"]) cpSync(join(task, name), join(folder, `check-${name}`), { recursive: true });
  change(folder);
  try {
    return `passed ${execFileSync("sh", ["-c", `${first} sh check-tests/test.sh`], { cwd: folder, encoding: "utf8" })}`;
  } catch (thrown) {
    const { status, stdout } = thrown as { readonly status: number; readonly stdout: string };
    return `${status} ${stdout.trim()}`;
  }
}

describe("hlvm eval import swebench", () => {
  it("makes a task that fails as it is and passes with its solution, of the repository's files at the commit", async () => {
    const { folder, instance } = repository();
    const { exitCode, tasks, stdout } = await importAll([instance], folder, ["--test-command", "sh", "--json"]);
    const task = join(tasks, "ada__sum-1");
    expect([exitCode, JSON.parse(stdout)]).toEqual([0, { type: "eval_task", task: "ada__sum-1", folder: task }]);
    expect(readTasks(tasks)).toMatchObject([{ name: "ada__sum-1", instruction: "sum.sh subtracts.", budget: { turns: 60 } }]);
    expect(readFileSync(join(task, "environment", "sum.sh"), "utf8")).toBe("echo $(($1 - $2))\n");
    expect(existsSync(join(task, "environment", "tests", "it's new.sh"))).toBe(false);
    expect(readFileSync(join(task, "environment", "link"), "utf8")).toBe("/etc/passwd");
    expect(checked(task)).toBe("1 1 and 2 are -1");
    expect(checked(task, undefined, "sh check-solution/solve.sh &&")).toBe("passed ");
    const again = await importAll([instance], folder);
    expect(again.stderr).toContain(`1 of 1 are in ${again.tasks}. Next: hlvm eval ${again.tasks}`);
  });

  it("has the check use the repository's own tests and settings, whatever a model made of them", async () => {
    const { folder, instance } = repository();
    const { tasks } = await importAll([instance], folder, ["--test-command", "cat conftest.py; [ ! -e sub/conftest.py ] && sh"]);
    const cheat = (at: string): void => {
      mkdirSync(join(at, "sub"));
      for (const path of ["conftest.py", "sub/conftest.py"]) writeFileSync(join(at, path), "# passes all\n");
      writeFileSync(join(at, "tests", "it's new.sh"), "exit 0\n");
    };
    expect(checked(join(tasks, "ada__sum-1"), cheat)).toBe("1 # ours\n1 and 2 are -1");
  });

  it.each([
    ["a path for an id", { instance_id: "../../etc" }, 'its instance_id is "../../etc"'],
    ["an option for a repository", { repo: "--upload-pack=x/y" }, "its repo is"],
    ["a branch for a commit", { base_commit: "main" }, 'its base_commit is "main"'],
    ["an option for a test", { FAIL_TO_PASS: ["--co"] }, 'its FAIL_TO_PASS names "--co"'],
    ["a test of two lines", { PASS_TO_PASS: ["a\nb"] }, "its PASS_TO_PASS names"],
    ["tests that are no list", { FAIL_TO_PASS: '{"a":1}' }, "its FAIL_TO_PASS is no list"],
    ["no tests", { FAIL_TO_PASS: [] }, "it names no test"],
    ["no problem", { problem_statement: " " }, "it has no problem_statement"],
  ])("refuses %s, with its line, and makes nothing", async (_, wrong, words) => {
    const { folder, instance } = repository();
    const { exitCode, stderr, tasks } = await importAll([instance, { ...instance, instance_id: "other", ...wrong }], folder);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`Line 2 is no instance of SWE-bench: ${words}`);
    expect(existsSync(tasks)).toBe(false);
  });

  it("goes on after an instance that cannot be made, and leaves nothing of it", async () => {
    const { folder, instance } = repository();
    const outside = "--- a/../../out\n+++ b/../../out\n@@ -0,0 +1 @@\n+x\n";
    const instances = [
      { ...instance, instance_id: "outside", test_patch: outside },
      { ...instance, instance_id: "hooks", patch: outside.replaceAll("../../out", ".git/hooks/post-checkout") },
      { ...instance, instance_id: "gone", base_commit: "0".repeat(40) },
      { ...instance, instance_id: "nowhere", repo: "ada/product" },
      instance,
    ];
    const { exitCode, stderr, tasks } = await importAll(instances, folder, ["--test-command", "sh"]);
    expect(exitCode).toBe(1);
    for (const id of ["outside", "hooks", "gone", "nowhere"]) {
      expect(stderr).toContain(`not imported: ${id}: `);
      expect(existsSync(join(tasks, id))).toBe(false);
    }
    expect(checked(join(tasks, "ada__sum-1"))).toBe("1 1 and 2 are -1");
    expect((await importAll(["{"], folder)).stderr).toContain("Line 1 is no instance of SWE-bench");
    expect((await importAll([""], folder)).stderr).toContain("The file holds no instance.");
  });
});
