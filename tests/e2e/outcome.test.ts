import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { createWorkspace, linesOf, startTestMesh, type Line, type TestMesh } from "./test-mesh.ts";

const command = "echo begun; sleep 3; echo ended";
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

/** Asks for a slow command and kills a service while it runs. @returns the session */
async function killDuringTool(service: string): Promise<string> {
  let sessionId = "";
  await mesh.hlvm(["ask", "--json", "--permission-mode", "bypassPermissions", "slow please"], {
    cwd: workspace,
    onLine: (line) => {
      const { event } = JSON.parse(line) as Line;
      if (event?.type !== "tool_output" || sessionId !== "") return;
      sessionId = String(event.session_id);
      process.kill(readMeshState(mesh.directory)!.services.find(({ name }) => name === service)!.pid!, "SIGKILL");
    },
  });
  return sessionId;
}

const intentsOf = async (sessionId: string): Promise<Line[]> =>
  linesOf(await mesh.hlvm(["audit", "query", "--json", "--session", sessionId]));

describe("a call whose mesh is killed around it", () => {
  it("has its outcome on record after policy was killed, from the run itself", async () => {
    const sessionId = await killDuringTool("policy");
    expect(await intentsOf(sessionId)).toMatchObject([{ tool: "shell_exec", decision: "allow", outcome: "succeeded" }]);
  }, 120_000);

  it("has what the sandbox says on record after the orchestrator was killed", async () => {
    const sessionId = await killDuringTool("orchestrator");
    await expect
      .poll(() => intentsOf(sessionId), { timeout: 90_000, interval: 2_000 })
      .toMatchObject([{ tool: "shell_exec", decision: "allow", outcome: expect.stringMatching(/^(cancelled|succeeded)$/) }]);
  }, 120_000);
});
