import type { BackgroundProcess, BackgroundProcesses } from "../background-processes.ts";
import type { ToolRun } from "../isolation.ts";
import { failedResult, succeeded, type ToolResult } from "../tool-event.ts";

export function isProcessTool(name: string): boolean {
  return name === "list_processes" || name === "stop_process";
}

/** Shows or ends the session's processes in the background. */
export async function runProcessTool(run: ToolRun, processes: BackgroundProcesses): Promise<ToolResult> {
  if (run.tool === "list_processes") {
    const all = processes.list();
    if (all.length === 0) return succeeded("[no process runs in the background]", "no processes");
    return succeeded(all.map(describe).join("\n\n"), `${all.length} ${all.length === 1 ? "process" : "processes"}`);
  }
  const { process_id: processId } = JSON.parse(run.argumentsJson) as { process_id: number };
  const stopped = await processes.stop(processId);
  if (stopped === undefined) return failedResult("not_found", `There is no process ${processId}. list_processes shows those there are.`, 0);
  return succeeded(describe(stopped), `process ${processId}: ${stopped.end ?? "running"}`);
}

function describe({ processId, command, startedAt, end, output }: BackgroundProcess): string {
  const state = end === undefined ? `running since ${startedAt.toISOString()}` : end;
  return `process ${processId}, ${state}: ${command}\n${output === "" ? "[no output yet]" : output}`;
}
