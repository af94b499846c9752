import { readMeshState, type MeshState, type ServiceState } from "@hlvm/mesh/mesh-state";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { logTail, processTrouble } from "../mesh/process-trouble.ts";
import { jsonLine } from "../output/json-line.ts";
import { table } from "../output/table.ts";
import { printableLine } from "../terminal/printable.ts";

const STATE_WORDS: Readonly<Record<ServiceState["state"], string>> = { up: "up", not_answering: "not answering", down: "down" };

/** What the mesh of this machine consists of; exit code 1 where none is up, or a part of it is not. */
export async function status(flags: { json?: boolean }, { config, screen }: CommandContext): Promise<number> {
  const state = readMeshState(config.directory);
  if (flags.json === true) process.stdout.write(jsonLine(stateJson(state, config.directory)));
  else if (state === undefined) screen.note("No mesh is up. `hlvm up` starts one; `hlvm ask` starts one for as long as it needs it.");
  else process.stdout.write(describe(state));
  return state !== undefined && troubled(state).length === 0 ? EXIT_OK : EXIT_FAILED;
}

function troubled({ services }: MeshState): ServiceState[] {
  return services.filter(({ state }) => state !== "up");
}

function describe(mesh: MeshState): string {
  const rows = mesh.services.map(({ name, state, pid, port, logFile }) => [
    name,
    STATE_WORDS[state],
    String(pid ?? ""),
    String(port ?? ""),
    logFile,
  ]);
  const wrong = troubled(mesh);
  const summary = wrong.length === 0 ? "HLVM is up" : `HLVM runs without ${wrong.map(({ name }) => name).join(", ")}`;
  const parts = table(["SERVICE", "STATE", "PID", "PORT", "LOG"], rows);
  return `${summary}: ${mesh.edgeUrl} since ${mesh.startedAt}\n\n${parts}${wrong.map(explained).join("")}`;
}

function explained(service: ServiceState): string {
  const lines = logTail(service).map((line) => `  ${printableLine(line)}\n`);
  return `\n${printableLine(processTrouble(service), 1_000)}\n${lines.length === 0 ? "" : `The last lines of its log:\n${lines.join("")}`}`;
}

function stateJson(mesh: MeshState | undefined, directory: string): object {
  if (mesh === undefined) return { up: false, state: "down", directory };
  const isWhole = troubled(mesh).length === 0;
  return {
    up: isWhole,
    state: isWhole ? "up" : "degraded",
    directory,
    edge_url: mesh.edgeUrl,
    supervisor_pid: mesh.supervisorPid,
    started_at: mesh.startedAt,
    services: mesh.services.map(serviceJson),
  };
}

function serviceJson(service: ServiceState): object {
  const { name, state, since, reason, nextAttempt, pid, port, logFile } = service;
  const trouble = state === "up" ? {} : { reason, next_attempt: nextAttempt, last_log_lines: logTail(service) };
  return { name, up: state === "up", state, since, ...trouble, pid, port, log_file: logFile };
}
