import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { createWorkspace, eventsOf, linesOf, startTestMesh, type Line, type TestMesh } from "../e2e/test-mesh.ts";

const command = "echo begun >> lines; echo begun; sleep 3; echo ended >> lines; echo ended";
const script = {
  conversations: [{ match: "slow", turns: [{ toolCalls: [{ tool: "shell_exec", arguments: { command } }] }, { text: "Done." }] }],
};
/** How often a run may be taken over. One whose log could not be written for ten seconds is let go: PostgreSQL may be away longer on a busy machine. */
const TAKE_OVERS: Readonly<Record<string, readonly number[]>> = { orchestrator: [1], PostgreSQL: [0, 1] };

let mesh: TestMesh;
let workspace: string;

beforeAll(async () => {
  workspace = await createWorkspace({ "script.json": JSON.stringify(script) });
  mesh = await startTestMesh({ HLVM_SCRIPT_FILE: join(workspace, "script.json"), HLVM_MODEL: "scripted/script" });
});
beforeEach(() => rmSync(join(workspace, "lines"), { force: true }));
afterAll(async () => {
  await mesh.stop();
  rmSync(workspace, { recursive: true });
});

/** Asks for a slow command and kills a part of the mesh while it runs. */
async function killDuringTool(part: string): Promise<{ code: number | null; lines: Line[]; sessionId: string }> {
  let sessionId = "";
  const ended = await mesh.hlvm(["ask", "--json", "--permission-mode", "bypassPermissions", "slow please"], {
    cwd: workspace,
    onLine: (line) => {
      const { event } = JSON.parse(line) as Line;
      if (event?.type !== "tool_output" || sessionId !== "") return;
      sessionId = String(event.session_id);
      process.kill(readMeshState(mesh.directory)!.services.find(({ name }) => name === part)!.pid!, "SIGKILL");
    },
  });
  return { code: ended.code, lines: linesOf(ended), sessionId };
}

const callsOnRecord = async (sessionId: string): Promise<Line[]> =>
  linesOf(await mesh.hlvm(["audit", "query", "--json", "--session", sessionId]));

describe("a run during whose call a part is killed", () => {
  it.each(["orchestrator", "policy", "model-gateway", "memory", "PostgreSQL", "Meilisearch"])(
    "goes on to its end after %s was, and the call takes effect once",
    async (part) => {
      const { code, lines, sessionId } = await killDuringTool(part);
      expect(lines.at(-1)).toMatchObject({ type: "final", stop_reason: "completed", text: expect.stringMatching(/^Done\./) });
      expect(code).toBe(0);
      expect(readFileSync(join(workspace, "lines"), "utf8")).toBe("begun\nended\n");
      const sequences = lines.flatMap(({ event }) => (event === undefined ? [] : [Number(event.sequence)]));
      expect(sequences).toEqual([...new Set(sequences)].toSorted((one, other) => one - other));
      expect(TAKE_OVERS[part] ?? [0]).toContain(eventsOf(lines, "run_taken_over").length);
      await expect
        .poll(() => callsOnRecord(sessionId), { timeout: 40_000, interval: 1_000 })
        .toMatchObject([{ tool: "shell_exec", decision: "allow", outcome: "succeeded" }]);
    },
    120_000,
  );

  it("goes on after the sandbox was, and is told that it is not known what came of the call", async () => {
    const { code, lines, sessionId } = await killDuringTool("sandbox");
    expect(lines.at(-1)).toMatchObject({ type: "final", stop_reason: "completed", text: expect.stringMatching(/^Done\./) });
    expect(code).toBe(0);
    expect(eventsOf(lines, "tool_end")).toMatchObject([{ success: false, error_code: "outcome_unknown" }]);
    expect(readFileSync(join(workspace, "lines"), "utf8")).toBe("begun\n");
    await expect.poll(() => callsOnRecord(sessionId), { timeout: 40_000, interval: 1_000 }).toMatchObject([{ outcome: "unknown" }]);
  }, 120_000);
});
