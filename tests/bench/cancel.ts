import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createWorkspace, startTestMesh } from "../e2e/test-mesh.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const ROUNDS = 10;
const SLEEP_SECONDS = 4_242;

/** From Ctrl-C in the terminal to the end of the command that a tool was running, and to the end of `hlvm`. */
export async function benchCancel(): Promise<void> {
  const workspace = await createWorkspace({});
  const scriptFile = join(workspace, "script.json");
  const turns = [{ toolCalls: [{ tool: "shell_exec", arguments: { command: `echo begun; sleep ${SLEEP_SECONDS}` } }] }, { text: "Done." }];
  writeFileSync(scriptFile, JSON.stringify({ conversations: [{ match: "", turns }] }));
  const mesh = await startTestMesh({ HLVM_SCRIPT_FILE: scriptFile, HLVM_MODEL: "scripted/script" });
  const toolEnds: number[] = [];
  const commandEnds: number[] = [];
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      let interruptedAt = 0;
      let toolEndedAt = 0;
      await mesh.hlvm(["ask", "--json", "--permission-mode", "bypassPermissions", "sleep"], {
        cwd: workspace,
        onLine: (line, program) => {
          if (!line.includes('"type":"tool_output"')) return;
          interruptedAt = performance.now();
          program.interrupt();
          while (isRunning()) continue;
          toolEndedAt = performance.now();
        },
      });
      if (round === 0) continue;
      toolEnds.push(toolEndedAt - interruptedAt);
      commandEnds.push(performance.now() - interruptedAt);
    }
  } finally {
    await mesh.stop();
    rmSync(workspace, { recursive: true });
  }
  const row = (what: string, numbers: readonly number[]) => ({ what, p50: quantile(numbers, 0.5), max: Math.max(...numbers), limit: 200 });
  printTable(`Ctrl-C, ${ROUNDS} rounds, milliseconds`, [
    row("until the tool's process is gone", toolEnds),
    row("until hlvm has ended", commandEnds),
  ]);
}

function isRunning(): boolean {
  try {
    execFileSync("pgrep", ["-f", `^sleep ${SLEEP_SECONDS}$`], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
