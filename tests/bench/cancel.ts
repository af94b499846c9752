import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { processesMatching } from "@hlvm/testing/processes-matching";
import { createWorkspace, startTestMesh } from "../e2e/test-mesh.ts";
import { benchCancelUpstream } from "./cancel-upstream.ts";
import { printTable } from "./print-table.ts";
import { quantile } from "./quantile.ts";

const ROUNDS = 10;
const SLEEP_SECONDS = 4_242;
const BEGIN_MILLISECONDS = 5_000;

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
      let interruptedAt: number | undefined;
      let toolEndedAt = 0;
      const { stdout, stderr } = await mesh.hlvm(["ask", "--json", "--permission-mode", "bypassPermissions", "sleep"], {
        cwd: workspace,
        onLine: (line, program) => {
          if (interruptedAt !== undefined || !line.includes('"type":"tool_output"')) return;
          if (!hasBegun()) return program.interrupt();
          interruptedAt = performance.now();
          program.interrupt();
          while (isRunning()) continue;
          toolEndedAt = performance.now();
        },
      });
      const endedAt = performance.now();
      if (interruptedAt === undefined) throw new Error(`nothing was there to interrupt: ${stderr || stdout}`);
      if (round === 0) continue;
      toolEnds.push(toolEndedAt - interruptedAt);
      commandEnds.push(endedAt - interruptedAt);
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
  await benchCancelUpstream();
}

/** The output tells that the command is about to begin. */
function hasBegun(): boolean {
  const deadline = performance.now() + BEGIN_MILLISECONDS;
  while (!isRunning()) if (performance.now() > deadline) return false;
  return true;
}

function isRunning(): boolean {
  return processesMatching(new RegExp(`^sleep ${SLEEP_SECONDS}$`)).length > 0;
}
