import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram } from "../e2e/run-program.ts";
import {
  cleanEnvironment,
  createWorkspace,
  eventsOf,
  linesOf,
  repositoryRoot,
  startTestMesh,
  type Line,
  type TestMesh,
} from "../e2e/test-mesh.ts";

const HLVM = join(repositoryRoot, "services", "cli", "bin", "hlvm");
const STACK = /\n\s+at .*:\d+/;

const script = {
  conversations: [
    { match: "slow", turns: [{ toolCalls: [{ tool: "shell_exec", arguments: { command: "echo begun; sleep 5" } }] }, { text: "Done." }] },
    { match: "quick", turns: [{ text: "Here." }] },
  ],
};

let mesh: TestMesh;
let workspace: string;

beforeAll(async () => {
  workspace = await createWorkspace({ "script.json": JSON.stringify(script) });
  mesh = await startTestMesh({ HLVM_SCRIPT_FILE: join(workspace, "script.json"), HLVM_MODEL: "scripted/script" });
});

afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
});

const pidOf = (service: string): number => mesh.state.services.find(({ name }) => name === service)!.pid!;

describe("Meilisearch stops", () => {
  it("memory answers from PostgreSQL, as small memories always do", async () => {
    await mesh.hlvm(["memory", "write", "--scope", "personal", "The lighthouse keeper is called Ida"]);
    process.kill(pidOf("Meilisearch"), "SIGSTOP");
    try {
      const found = await mesh.hlvm(["memory", "search", "lighthouse keeper"]);
      expect(found.stdout).toContain("Ida");
      expect(found.stderr).toBe("");
    } finally {
      process.kill(pidOf("Meilisearch"), "SIGCONT");
    }
  });
});

describe("PostgreSQL cannot start", () => {
  it("the message names it and its log file", async () => {
    const directory = mkdtempSync(join(tmpdir(), "hlvm-broken-"));
    mkdirSync(join(directory, "data", "postgres", "data"), { recursive: true });
    writeFileSync(join(directory, "data", "postgres", "data", "PG_VERSION"), "9.6\n");
    writeFileSync(join(directory, "data", "postgres", "superuser-password"), "none");
    const ended = await runProgram(HLVM, ["ask", "quick"], { cwd: workspace, environment: cleanEnvironment(directory) });
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).toContain("PostgreSQL");
    expect(ended.stderr).toMatch(/logs\/postgres\S*\.log/);
    expect(ended.stderr).not.toMatch(STACK);
    rmSync(directory, { recursive: true });
  });
});

describe("PostgreSQL stops in the middle of a run", () => {
  const slow = ["ask", "--json", "--permission-mode", "bypassPermissions", "slow please"];
  const onToolOutput = (act: () => void) => (line: string) => {
    const { event } = JSON.parse(line) as Line;
    if (event?.type === "tool_output") act();
  };

  it("and comes back: the run goes on, and its log has everything once", async () => {
    const ended = await mesh.hlvm(slow, { cwd: workspace, onLine: onToolOutput(() => process.kill(pidOf("PostgreSQL"), "SIGQUIT")) });
    const lines = linesOf(ended);
    expect(lines.at(-1)).toMatchObject({ type: "final", stop_reason: "completed" });
    const sequences = lines.flatMap(({ event }) => (event === undefined ? [] : [Number(event.sequence)]));
    expect(sequences).toEqual([...new Set(sequences)].toSorted((one, other) => one - other));
    expect(eventsOf(lines, "tool_end")).toEqual([expect.objectContaining({ success: true, content: expect.stringContaining("begun") })]);
    const [intent] = linesOf(await mesh.hlvm(["audit", "query", "--json", "--tool", "shell_exec"]));
    expect(intent).toMatchObject({ decision: "allow", outcome: "succeeded" });
  }, 120_000);
});
