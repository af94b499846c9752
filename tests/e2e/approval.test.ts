import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkspace, linesOf, repositoryRoot, startTestMesh, type TestMesh } from "./test-mesh.ts";
import { runInTerminal } from "./run-in-terminal.ts";

const HLVM = join(repositoryRoot, "services", "cli", "bin", "hlvm");

let mesh: TestMesh;
let workspace: string;

beforeAll(async () => {
  mesh = await startTestMesh();
  workspace = await createWorkspace({ "a.txt": "a\n" });
});

afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
});

const inTerminal = (question: string, answers: readonly string[]) =>
  runInTerminal(HLVM, ["ask", question], { cwd: workspace, environment: mesh.environment, prompt: /y \/ n \/ a/, answers });

describe("a question for permission in the terminal", () => {
  it("shows the very command, and runs it after y", async () => {
    const { screen, code } = await inTerminal("run touch made-by-y", ["y"]);
    expect(screen).toContain("touch made-by-y");
    expect(code).toBe(0);
    expect(existsSync(join(workspace, "made-by-y"))).toBe(true);
  });

  it("shows what will be written, and writes nothing after n", async () => {
    const { screen } = await inTerminal("create never.txt with forbidden words", ["n"]);
    expect(screen).toContain("never.txt");
    expect(screen).toContain("forbidden words");
    expect(existsSync(join(workspace, "never.txt"))).toBe(false);
  });

  it("is in the audit log with who answered", async () => {
    const events = linesOf(await mesh.hlvm(["audit", "query", "--json", "--step", "approval", "--since", "1h"]));
    expect(events).toContainEqual(expect.objectContaining({ tool: "shell_exec", decision: "allow", outcome: "succeeded" }));
    expect(events).toContainEqual(expect.objectContaining({ tool: "write_file", decision: "deny" }));
  });
});
