import { once } from "node:events";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { holdMesh } from "@hlvm/mesh/hold-mesh";
import { readMeshState } from "@hlvm/mesh/mesh-state";
import { startSupervisor } from "@hlvm/mesh/start-supervisor";
import { stopMesh } from "@hlvm/mesh/stop-mesh";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { startProgress } from "../mesh/start-progress.ts";
import { Interrupts } from "../terminal/interrupts.ts";

/** Keeps the mesh up in the foreground. Ctrl-C takes all of it down and waits for its end. */
export async function up({ config, screen }: CommandContext): Promise<number> {
  const running = readMeshState(config.directory);
  if (running !== undefined) {
    screen.note(`A mesh is up already: ${running.edgeUrl}. \`hlvm down\` ends it.`);
    return EXIT_OK;
  }
  using interrupts = new Interrupts();
  const progress = startProgress(screen);
  const state = await startSupervisor({ directory: config.directory, lifetime: "foreground", onProgress: progress.line }).finally(
    progress.end,
  );
  const hold = await holdMesh(state.controlSocket);
  if (!interrupts.signal.aborted) process.stdout.write(welcome(state.edgeUrl, config.npmScript === "start" ? "npm start --" : "hlvm"));
  const keepAlive = setInterval(() => {}, 2 ** 30);
  try {
    const lost = await Promise.race([hold.lost.then(() => true), untilAborted(interrupts.signal)]);
    if (lost) throw ended(config.directory);
    screen.status("ending");
    await stopMesh(state.controlSocket);
    screen.status("");
    screen.note("HLVM has ended.");
    return EXIT_OK;
  } finally {
    clearInterval(keepAlive);
  }
}

function welcome(edgeUrl: string, command: string): string {
  return `HLVM is up: ${edgeUrl}

Try in another terminal:
  ${command} ask "What does this repository do?"
  ${command} ask --permission-mode acceptEdits "create hello.txt with hi"
  ${command} audit query --since 1h

Ctrl-C ends it.
`;
}

async function untilAborted(signal: AbortSignal): Promise<false> {
  if (!signal.aborted) await once(signal, "abort");
  return false;
}

function ended(directory: string): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "mesh_ended",
    message: "The mesh has ended.",
    advice: `If nobody called \`hlvm down\`, the logs in ${directory}/logs say why.`,
  });
}
