import { readMeshState, type MeshState } from "@hlvm/mesh/mesh-state";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { jsonLine } from "../output/json-line.ts";
import { table } from "../output/table.ts";

/** What the mesh of this machine consists of; exit code 1 where none is up. */
export async function status(flags: { json?: boolean }, { config, screen }: CommandContext): Promise<number> {
  const state = readMeshState(config.directory);
  if (flags.json === true) process.stdout.write(jsonLine(stateJson(state, config.directory)));
  else if (state === undefined) screen.note("No mesh is up. `hlvm up` starts one; `hlvm ask` starts one for as long as it needs it.");
  else process.stdout.write(describe(state));
  return state === undefined ? EXIT_FAILED : EXIT_OK;
}

function describe(state: MeshState): string {
  const rows = state.services.map(({ name, pid, port, logFile }) => [
    name,
    pid === undefined ? "down" : "up",
    String(pid ?? ""),
    String(port ?? ""),
    logFile,
  ]);
  return `HLVM is up: ${state.edgeUrl} since ${state.startedAt}\n\n${table(["SERVICE", "STATE", "PID", "PORT", "LOG"], rows)}`;
}

function stateJson(state: MeshState | undefined, directory: string): object {
  if (state === undefined) return { up: false, directory };
  return {
    up: true,
    directory,
    edge_url: state.edgeUrl,
    supervisor_pid: state.supervisorPid,
    started_at: state.startedAt,
    services: state.services.map(({ name, pid, port, logFile }) => ({ name, up: pid !== undefined, pid, port, log_file: logFile })),
  };
}
