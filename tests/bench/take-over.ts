import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { createWorkspace, startTestMesh, type Line, type TestMesh } from "../e2e/test-mesh.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const ROUNDS = 5;
/** After a shorter life than 10 s the supervisor waits longer with each start. */
const LIFE_MILLISECONDS = 10_500;
const LIMIT_MILLISECONDS = 5_000;
const turns = [{ toolCalls: [{ tool: "shell_exec", arguments: { command: "echo begun; sleep 1" } }] }, { text: "Done." }];

/** From the kill of the orchestrator that holds a run until its watcher is told that another process goes on with it. */
export async function benchTakeOver(): Promise<void> {
  const rows: Record<string, string | number>[] = [];
  for (const replicas of [1, 2]) {
    const workspace = await createWorkspace({ "script.json": JSON.stringify({ conversations: [{ match: "", turns }] }) });
    const mesh = await startTestMesh({
      HLVM_REPLICAS: String(replicas),
      HLVM_SCRIPT_FILE: join(workspace, "script.json"),
      HLVM_MODEL: "scripted/script",
    });
    const times: number[] = [];
    try {
      while (times.length < ROUNDS) {
        await sleep(LIFE_MILLISECONDS);
        times.push(...(await takeOver(mesh, workspace)));
      }
    } finally {
      await mesh.stop();
      rmSync(workspace, { recursive: true });
    }
    rows.push({
      orchestrators: replicas,
      p50: Math.round(quantile(times, 0.5)),
      p95: Math.round(quantile(times, 0.95)),
      max: Math.round(Math.max(...times)),
      "limit of p95": LIMIT_MILLISECONDS,
    });
  }
  printTable(`Take-over after kill -9, ${ROUNDS} rounds, milliseconds`, rows);
}

/** Kills one orchestrator while a run is under way. @returns nothing where another one held the run */
async function takeOver(mesh: TestMesh, workspace: string): Promise<number[]> {
  let killedAt: number | undefined;
  let goesOnAt: number | undefined;
  const { stdout, stderr } = await mesh.hlvm(["ask", "--json", "--permission-mode", "bypassPermissions", "sleep"], {
    cwd: workspace,
    onLine: (line) => {
      const type = (JSON.parse(line) as Line).event?.type;
      if (type === "run_taken_over") goesOnAt ??= performance.now();
      if (type !== "tool_output" || killedAt !== undefined) return;
      killedAt = performance.now();
      const orchestrators = readMeshState(mesh.directory)!.services.filter(({ name }) => name.startsWith("orchestrator"));
      const { pid } = orchestrators[Math.floor(Math.random() * orchestrators.length)]!;
      if (pid !== undefined) process.kill(pid, "SIGKILL");
    },
  });
  if (killedAt === undefined) throw new Error(`no command ran: ${stderr || stdout}`);
  return goesOnAt === undefined ? [] : [goesOnAt - killedAt];
}
