import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createWorkspace, eventsOf, linesOf, startTestMesh, type Line, type TestMesh } from "./test-mesh.ts";

let mesh: TestMesh;
let workspace: string;

const spawn = (profile: string, task: string) => ({ tool: "spawn_worker", arguments: { profile, task } });
const done = { text: "That is done." };

/** A coordinator with three workers: one writes, one tries to although it may only read, one takes too long. */
const script = {
  conversations: [
    {
      match: "coordinate",
      turns: [
        { toolCalls: [spawn("file", "task one: write"), spawn("explore", "task two: look"), spawn("explore", "task three: dawdle")] },
        { text: "Two of three did it." },
      ],
    },
    { match: "task one", turns: [{ toolCalls: [{ tool: "write_file", arguments: { path: "made.txt", content: "one\n" } }] }, done] },
    { match: "task two", turns: [{ toolCalls: [{ tool: "write_file", arguments: { path: "never.txt", content: "two\n" } }] }, done] },
    { match: "task three", turns: [{ delayMilliseconds: 120_000, text: "At last." }] },
    { match: "review", turns: [{ toolCalls: [{ tool: "write_file", arguments: { path: "never.txt", content: "x" } }] }, done] },
  ],
};

beforeAll(async () => {
  workspace = await createWorkspace({ "a.txt": "a\n" });
  const scriptFile = join(workspace, "script.json");
  writeFileSync(scriptFile, JSON.stringify(script));
  mkdirSync(join(workspace, ".claude/agents"), { recursive: true });
  writeFileSync(join(workspace, ".claude/agents/reviewer.md"), "---\nname: reviewer\ndescription: Reviews\ntools: Read\n---\nReview.\n");
  mesh = await startTestMesh({ HLVM_SCRIPT_FILE: scriptFile, HLVM_MODEL: "scripted/script" });
});

afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
});

const bypass = ["ask", "--json", "--permission-mode", "bypassPermissions"];

it("a run with three workers, one of them cancelled, goes on; its tree and what the audit log has of it", async () => {
  const cancelled: Promise<unknown>[] = [];
  const onLine = (text: string): void => {
    const { event } = JSON.parse(text) as Line;
    if (event?.type === "worker_spawned" && String(event.task).includes("three"))
      cancelled.push(mesh.hlvm(["session", "cancel", String(event.child_session_id)]));
  };
  const asked = await mesh.hlvm([...bypass, "--agent", "coordinator", "coordinate this"], { cwd: workspace, onLine });
  await Promise.all(cancelled);
  const lines = linesOf(asked);
  const final = lines.at(-1)!;
  expect(final).toMatchObject({
    type: "final",
    stop_reason: "completed",
    text: expect.stringContaining("Two of three did it."),
    tool_calls: 3,
  });
  const ended = eventsOf(lines, "worker_completed").map((one) => [one.agent_type, one.stop_reason, one.files_touched]);
  expect(ended.map((each) => each.join(" ")).toSorted()).toEqual([
    "explore completed ",
    "explore user_cancelled ",
    "file completed made.txt",
  ]);
  expect(readFileSync(join(workspace, "made.txt"), "utf8")).toBe("one\n");
  expect(() => readFileSync(join(workspace, "never.txt"))).toThrow("ENOENT");

  const sessionId = String(final.session_id);
  const shown = await mesh.hlvm(["session", "show", sessionId]);
  const tree = shown.stdout
    .replaceAll(/[0-9a-f-]{36}/g, "ID")
    .split("\n")
    .filter((line) => /^[├└]─ /.test(line));
  expect(tree.map((line) => line.slice(3)).toSorted()).toEqual([
    "explore · ID · completed · task two: look",
    "explore · ID · user_cancelled · task three: dawdle",
    "file · ID · completed · task one: write",
  ]);
  expect((await mesh.hlvm(["session", "list", "--json"])).stdout.trim().split("\n")).toHaveLength(1);
  expect((await mesh.hlvm(["session", "list", "--json", "--with-workers"])).stdout.trim().split("\n")).toHaveLength(4);
  const audit = await mesh.hlvm(["audit", "query", "--session", sessionId, "--json"]);
  expect(audit.stdout).toContain('"tool":"write_file"');
});

it("a run is held to the profile that it was given", async () => {
  const ask = () => mesh.hlvm([...bypass, "--agent", "reviewer", "review this"], { cwd: workspace });
  expect((await ask()).stdout).toContain("`hlvm trust add` shows it and asks");
  await mesh.hlvm(["trust", "add", "--yes"], { cwd: workspace });
  const asked = await ask();
  expect(asked.stderr).toContain("agent reviewer: from .claude/agents/reviewer.md of this workspace");
  expect(() => readFileSync(join(workspace, "never.txt"))).toThrow("ENOENT");
  const [started] = eventsOf(linesOf(asked), "run_started");
  expect(started).toMatchObject({ agent_type: "reviewer", only_tools: ["read_file", "file_stats", "read_result"] });
});
