import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { createWorkspace, eventsOf, linesOf, startTestMesh, type Line } from "../e2e/test-mesh.ts";

const STACK = /\n\s+at .*:\d+/;
const script = {
  conversations: [
    { match: "slow", turns: [{ toolCalls: [{ tool: "shell_exec", arguments: { command: "echo begun; sleep 5" } }] }, { text: "Done." }] },
  ],
};

it("PostgreSQL stops in the middle of a run and stays away: whoever asked is told so, and the run goes on when the mesh is up again", async () => {
  const workspace = await createWorkspace({ "script.json": JSON.stringify(script) });
  const mesh = await startTestMesh({ HLVM_SCRIPT_FILE: join(workspace, "script.json"), HLVM_MODEL: "scripted/script" });
  onTestFinished(async () => {
    await mesh.stop();
    rmSync(workspace, { recursive: true });
  });
  const slow = ["ask", "--json", "--permission-mode", "bypassPermissions", "slow please"];
  const onToolOutput = (act: (sessionId: string) => void) => (line: string) => {
    const { event } = JSON.parse(line) as Line;
    if (event?.type === "tool_output") act(String(event.session_id));
  };
  const settings = join(mesh.directory, "data", "postgres", "data", "postgresql.conf");
  const right = readFileSync(settings);
  let sessionId = "";
  const ended = await mesh.hlvm(slow, {
    cwd: workspace,
    environment: { HLVM_RECONNECT_SECONDS: "5" },
    onLine: onToolOutput((id) => {
      sessionId = id;
      appendFileSync(settings, "\nnonsense = on\n");
      process.kill(readMeshState(mesh.directory)!.services.find(({ name }) => name === "PostgreSQL")!.pid!, "SIGQUIT");
    }),
  });
  expect(ended.code).not.toBe(0);
  expect(ended.stdout + ended.stderr).toMatch(/PostgreSQL|database/);
  expect(ended.stderr).not.toMatch(STACK);

  await mesh.hlvm(["down"]);
  writeFileSync(settings, right);
  const kept = linesOf(await mesh.hlvm(["session", "watch", sessionId, "--json"]));
  expect(eventsOf(kept, "tool_end")).toHaveLength(1);
  expect(kept.at(-1)).toMatchObject({ type: "final", stop_reason: "completed" });
}, 120_000);
