import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { linesOf, repositoryRoot, startTestMesh, type Line, type TestMesh } from "./test-mesh.ts";

interface Conversation {
  readonly match: string;
  readonly turns: readonly object[];
}

const TASKS = join(repositoryRoot, "tests", "eval", "tasks");
const folder = mkdtempSync(join(tmpdir(), "hlvm-tasks-"));
let mesh: TestMesh;

const answers = (file: string, task: string): Conversation => {
  const { conversations } = JSON.parse(readFileSync(join(repositoryRoot, "tests", "eval", file), "utf8")) as {
    conversations: Conversation[];
  };
  const instruction = readFileSync(join(TASKS, task, "instruction.md"), "utf8");
  return conversations.find(({ match }) => instruction.includes(match))!;
};
const nameOf = ({ task, repeat = 0 }: Line): string => `${String(task)} ${String(repeat)}`;
const shell = (command: string) => ({ toolCalls: [{ tool: "shell_exec", arguments: { command } }] });

/** A task of one file, right where that says so. */
function writeTask(set: string, name: string, files: Readonly<Record<string, string>> = {}): void {
  const all = {
    "task.toml": "[metadata.hlvm]\nturns = 3\n",
    "instruction.md": `work on ${name}`,
    "environment/state": "begun\n",
    "tests/test.sh": 'grep -qx finished state || { echo "state is $(cat state)"; exit 1; }\n',
    "solution/solve.sh": "echo finished > state\n",
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(join(folder, set, name, path, ".."), { recursive: true });
    writeFileSync(join(folder, set, name, path), text);
  }
}

beforeAll(async () => {
  for (const task of ["add-a-line", "mend-a-sum", "count-words"])
    cpSync(join(TASKS, task), join(folder, "short", task), { recursive: true });
  writeTask("short", "cheat");
  writeTask("short", "endless");
  writeTask("short", "broken-check", { "tests/test.sh": "exit 3\n" });
  writeTask("short", "lenient-check", { "tests/test.sh": "exit 0\n" });
  writeTask("short", "wrong-solution", { "solution/solve.sh": "echo begun > state\n" });
  writeTask("short", "needs-image", { "environment/Dockerfile": "FROM debian\nRUN apt-get install x\n" });
  writeTask("slow", "quick");
  writeTask("slow", "stuck");
  const cheating =
    "mkdir tests; for each in tests/test.sh test.sh reward.txt; do echo exit 0 > $each; done; echo '/check-*' > .gitignore; ls -a / /workspace; ls -d check-*";
  const conversations = [
    answers("right-answers.json", "add-a-line"),
    answers("right-answers.json", "mend-a-sum"),
    answers("wrong-answers.json", "count-words"),
    { match: "work on cheat", turns: [shell(cheating), { text: "It is done." }] },
    { match: "work on endless", turns: Array.from({ length: 9 }, (_, index) => shell(`echo ${index}`)) },
    { match: "work on quick", turns: [shell("echo finished > state"), { text: "It is done." }] },
    {
      match: "work on a record",
      turns: [
        { toolCalls: [{ tool: "read_file", arguments: { path: "state" } }] },
        { toolCalls: [{ tool: "list_files", arguments: {} }] },
        { toolCalls: [{ tool: "write_file", arguments: { path: "state", content: "finished\n" } }] },
        { text: "It is done." },
      ],
    },
    { match: "work on stuck", turns: [{ delayMilliseconds: 120_000, text: "Too late." }] },
  ];
  const script = join(folder, "script.json");
  writeFileSync(script, JSON.stringify({ conversations }));
  mesh = await startTestMesh({ HLVM_SCRIPT_FILE: script, HLVM_MODEL: "scripted/script" });
});

afterAll(async () => {
  await mesh.stop();
  rmSync(folder, { recursive: true });
});

// Some forty sessions, on a machine that may have much else to do.
describe("hlvm eval", { timeout: 90_000 }, () => {
  it("tells right answers from wrong ones and from cheating, and errors from failures", async () => {
    const ended = await mesh.hlvm(["eval", join(folder, "short"), "--repeat", "2", "--json"]);
    const lines = linesOf(ended);
    const of = (type: string) => lines.filter((line) => line.type === type);
    const byName = (one: Line, other: Line): number => nameOf(one).localeCompare(nameOf(other));
    const trials = of("trial").toSorted(byName);
    expect(trials.map(({ task, repeat, outcome, why }) => [task, repeat, outcome, why])).toEqual([
      ["add-a-line", 1, "passed", ""],
      ["add-a-line", 2, "passed", ""],
      ["cheat", 1, "failed", "state is begun"],
      ["cheat", 2, "failed", "state is begun"],
      ["count-words", 1, "failed", "another file has 3 words"],
      ["count-words", 2, "failed", "another file has 3 words"],
      ["endless", 1, "failed", "its budget of turns was used up"],
      ["endless", 2, "failed", "its budget of turns was used up"],
      ["mend-a-sum", 1, "passed", ""],
      ["mend-a-sum", 2, "passed", ""],
    ]);
    expect(
      of("invalid_task")
        .toSorted(byName)
        .map(({ task, why }) => [task, why]),
    ).toEqual([
      ["broken-check", "its check does not fail where nothing was done: the check could not run: exit code 3"],
      ["lenient-check", "its check does not fail where nothing was done: it passes"],
      ["needs-image", expect.stringMatching(/^There is no image task-needs-image:[0-9a-f]{12} for sandboxes here\.$/)],
      ["wrong-solution", "its check does not pass with its solution: state is begun"],
    ]);
    expect(of("task").find(({ task }) => task === "add-a-line")).toMatchObject({ passed: 2, counted: 2, high: 1 });
    expect(of("final")).toEqual([expect.objectContaining({ setting: "scripted/script", tasks: 5, pass_rate: 0.4 })]);
    expect(ended.code).toBe(1);
    const trial = trials[0]!;
    expect(trial).toMatchObject({ turns: 2, tokens: expect.any(Number), duration_ms: expect.any(Number) });
    const shown = await mesh.hlvm(["session", "show", trial.check_session_id as string]);
    expect(shown.stdout).toContain("test.sh");
    expect(existsSync(join(TASKS, "add-a-line", ".git"))).toBe(false);
    const listed = linesOf(await mesh.hlvm(["session", "list", "--json", "--limit", "500"])).map((session) => session.session_id);
    expect(listed).toContain(trial.session_id);
    expect(listed).not.toContain(trial.check_session_id);
  });

  it("compares settings with each other and with a baseline, and fails where less passes than then", async () => {
    const both = ["--setting", "model=scripted/script", "--setting", "model=scripted/script disallow=write_file,edit_file,shell_exec"];
    const ended = await mesh.hlvm(["eval", join(TASKS, "add-a-line"), ...both, "--repeat", "2", "--json"]);
    expect(ended.code).toBe(0);
    const lines = linesOf(ended);
    const denied = lines.filter(({ type, setting }) => type === "trial" && String(setting).includes("disallow"));
    expect(denied).toHaveLength(2);
    for (const trial of denied) expect(trial).toMatchObject({ outcome: "failed", denied: 1 });
    expect(lines.find(({ type }) => type === "comparison")).toMatchObject({ against: "model=scripted/script", tasks: 1, difference: -1 });

    const baseline = join(folder, "baseline.ndjson");
    writeFileSync(
      baseline,
      ended.stdout
        .split("\n")
        .filter((line) => !line.includes("disallow"))
        .join("\n"),
    );
    const later = ["eval", join(TASKS, "add-a-line"), "--repeat", "2", "--json", "--baseline", baseline];
    const same = await mesh.hlvm(later);
    expect(same.code).toBe(0);
    expect(linesOf(same).at(-1)).toMatchObject({ type: "comparison", against: "baseline", difference: 0 });
    const worse = await mesh.hlvm([...later, "--setting", "disallow=write_file,edit_file,shell_exec"]);
    expect(worse.code).toBe(1);
    expect(linesOf(worse).at(-1)).toMatchObject({ type: "comparison", against: "baseline", difference: -1, high: -1 });
  });

  it("tries models on an instance of SWE-bench that was imported", async () => {
    const repository = join(folder, "repositories", "ada", "sum");
    mkdirSync(repository, { recursive: true });
    const git = (...words: string[]) =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...words], { cwd: repository, encoding: "utf8" });
    git("init", "-q");
    writeFileSync(join(repository, "state"), "begun\n");
    git("add", "-A");
    git("commit", "-qm", "base");
    const [patch, testPatch] = [
      ["state", "@@ -1 +1 @@\n-begun\n+finished\n"],
      ["t.sh", "@@ -0,0 +1 @@\n+grep -qx finished state\n"],
    ].map(([path, hunk]) => `${path === "state" ? "--- a/state" : "--- /dev/null"}\n+++ b/${path}\n${hunk}`);
    const instance = {
      instance_id: "ada__sum-1",
      repo: "ada/sum",
      base_commit: git("rev-parse", "HEAD").trim(),
      patch,
      test_patch: testPatch,
    };
    const told = { problem_statement: "work on quick", FAIL_TO_PASS: ["t.sh"], PASS_TO_PASS: [] };
    writeFileSync(join(folder, "instances.jsonl"), JSON.stringify({ ...instance, ...told }));
    const tasks = join(folder, "swebench");
    const words = ["import", "swebench", join(folder, "instances.jsonl"), "--to", tasks, "--repositories", join(folder, "repositories")];
    expect((await mesh.hlvm(["eval", ...words, "--test-command", "sh"])).code).toBe(0);
    const ended = await mesh.hlvm(["eval", tasks, "--repeat", "1", "--json"]);
    expect(linesOf(ended)[0]).toMatchObject({ type: "trial", task: "ada__sum-1", outcome: "passed", why: "" });
    expect(ended.code).toBe(0);
  });

  it("replays a session: its calls under other rules, its turns with a model, and from a turn on in a copy", async () => {
    const workspace = join(folder, "recorded");
    mkdirSync(workspace);
    writeFileSync(join(workspace, "state"), "begun\n");
    const ask = ["ask", "work on a record", "--permission-mode", "acceptEdits", "--json"];
    const asked = await mesh.hlvm(ask, { cwd: workspace });
    const recorded = linesOf(asked).at(-1)!.session_id as string;
    expect(readFileSync(join(workspace, "state"), "utf8")).toBe("finished\n");
    const replay = async (...words: string[]) => {
      const ended = await mesh.hlvm(["eval", "replay", recorded, ...words, "--json"]);
      expect([ended.code, ended.stderr]).toEqual([0, ""]);
      return linesOf(ended);
    };
    const planned = await replay("--decisions", "--setting", "mode=plan");
    expect(planned.at(-1)).toMatchObject({ type: "replay", calls: 3, same: 2, newly_denied: 1, looser: 0 });
    expect((await replay("--decisions", "--setting", "mode=acceptEdits")).at(-1)).toMatchObject({ calls: 3, same: 3 });
    const turns = await replay("--next-turn");
    expect(turns.at(-1)).toMatchObject({ turns: 4, same: 4, agreement: 1, replayed_session_id: recorded });
    const shown = await mesh.hlvm(["eval", "replay", recorded, "--next-turn", "--model", "demo/rules"]);
    expect(shown.stdout).toMatch(/They first part at turn 1\./);

    writeFileSync(join(workspace, "state"), "of later\n");
    const forked = (await replay("--fork", "2")).at(-1)!;
    expect(forked).toMatchObject({ type: "replay", results: 2, as_recorded: 1 });
    expect(readFileSync(join(workspace, "state"), "utf8")).toBe("of later\n");
    const diff = await mesh.hlvm(["session", "diff", forked.session_id as string]);
    expect(diff.stdout).toContain("-begun\n+finished");
    const both = await mesh.hlvm(["eval", "replay", recorded, "--decisions", "--next-turn"]);
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("Give one of --decisions")]);
  });

  it("interrupted, it tells what had ended by then", async () => {
    const ended = await mesh.hlvm(["eval", join(folder, "slow"), "--repeat", "1", "--at-once", "2", "--json"], {
      onLine: (line, program) => line.includes('"trial"') && program.interrupt(),
    });
    expect(ended.code).toBe(130);
    expect(ended.stderr).toContain("It was interrupted");
    expect(linesOf(ended).map(({ type, task, tasks, outcome }) => [type, task ?? tasks, outcome])).toEqual([
      ["trial", "quick", "passed"],
      ["task", "quick", undefined],
      ["final", 1, undefined],
    ]);
  });
});
