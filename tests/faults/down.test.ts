import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createWorkspace, eventsOf, linesOf, startTestMesh, type Line, type TestMesh } from "../e2e/test-mesh.ts";

/** Longer than a busy machine takes to start `hlvm down`: the run has to be under way when that looks. */
const command = "echo begun; sleep 20; echo ended";
const script = {
  conversations: [{ match: "slow", turns: [{ toolCalls: [{ tool: "shell_exec", arguments: { command } }] }, { text: "Done." }] }],
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

it("a run under way when the mesh is ended goes on when it is up again, of which `hlvm down` tells", async () => {
  const begun = Promise.withResolvers<string>();
  const asking = mesh.hlvm(["ask", "--json", "--permission-mode", "bypassPermissions", "slow please"], {
    cwd: workspace,
    onLine: (line) => {
      const { event } = JSON.parse(line) as Line;
      if (event?.type === "tool_output") begun.resolve(String(event.session_id));
    },
  });
  const sessionId = await begun.promise;
  const ended = await mesh.hlvm(["down"]);
  expect(ended.stderr).toContain(
    `The run in session ${sessionId} goes on when HLVM is up again; \`hlvm session cancel ${sessionId}\` ends it.`,
  );
  expect((await asking).code).not.toBe(0);
  const lines = linesOf(await mesh.hlvm(["session", "watch", sessionId, "--json"]));
  expect(eventsOf(lines, "run_taken_over")).toHaveLength(1);
  expect(lines.at(-1)).toMatchObject({ type: "final", stop_reason: "completed" });
});
