import { once } from "node:events";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { MeshReference } from "@hlvm/mesh/reference-mesh";
import { readMeshState, type MeshState } from "@hlvm/mesh/mesh-state";
import { stopMesh } from "@hlvm/mesh/stop-mesh";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { beginTeam, teamWelcome } from "../mesh/begin-team.ts";
import { pageLink } from "../mesh/page-link.ts";
import { referenceRunningMesh } from "../mesh/reference-running-mesh.ts";
import { startReferencedMesh } from "../mesh/start-referenced-mesh.ts";
import type { CliConfig } from "../config.ts";
import { watchSources } from "../sources/watch-sources.ts";
import { Interrupts } from "../terminal/interrupts.ts";

/**
 * Keeps the mesh up in the foreground, also one that another command has started for itself and that would end with it.
 * Ctrl-C takes all of it down and waits for its end; a mesh of others lives on for as long as they use it.
 * @param isTeam as a company has it, with people who log in
 */
export async function up(context: CommandContext, isTeam = false): Promise<number> {
  const { config, screen } = context;
  const running = readMeshState(config.directory);
  if (running?.lifetime === "foreground") {
    screen.note(`A mesh is up already: ${running.edgeUrl}. \`hlvm down\` ends it.`);
    return EXIT_OK;
  }
  using interrupts = new Interrupts();
  try {
    const mesh =
      (await referenceRunningMesh(config.directory)) ??
      (await startReferencedMesh(context, "foreground", interrupts.signal, isTeam ? { HLVM_TEAM: "demo" } : {}));
    if (isTeam && !interrupts.signal.aborted) {
      await beginTeam(mesh.state);
      process.stdout.write(teamWelcome(mesh.state, config.npmScript === "start" ? "npm start --" : "hlvm"));
    }
    const link = isTeam ? undefined : await pageLink(mesh.state.edgeUrl, mesh.state.tokenFile).catch(() => undefined);
    if (!isTeam && !interrupts.signal.aborted)
      process.stdout.write(welcome(mesh.state, link, config.npmScript === "start" ? "npm start --" : "hlvm"));
    await keepUp(mesh.reference, interrupts.signal, config);
    screen.status("ending");
    await (mesh.state.lifetime === "foreground" ? stopMesh(mesh.state.controlSocket) : mesh.reference.release());
  } catch (thrown) {
    if (interrupts.exitCode === undefined || !isCancelled(thrown)) throw thrown;
    screen.note("cancelled", "warning");
    return interrupts.exitCode;
  }
  screen.status("");
  screen.note(readMeshState(config.directory) === undefined ? "HLVM has ended." : "HLVM stays up for as long as others use it.");
  return EXIT_OK;
}

/** Resolves when a person wants to stop. */
async function keepUp(reference: MeshReference, signal: AbortSignal, config: CliConfig): Promise<void> {
  const over = new AbortController();
  const watching = watchSources(config, AbortSignal.any([signal, over.signal]));
  try {
    const lost = await Promise.race([reference.lost.then(() => true), untilAborted(signal)]);
    if (lost) throw ended(config.directory);
  } finally {
    over.abort();
    await watching;
  }
}

function welcome({ edgeUrl, lifetime }: MeshState, link: string | undefined, command: string): string {
  const page = link === undefined ? "" : `\nIn a browser, within a minute (later: ${command} web):\n  ${link}\n`;
  return `HLVM is up: ${edgeUrl}
${page}
Try in another terminal:
  ${command} ask "What does this repository do?"
  ${command} ask --permission-mode acceptEdits "create hello.txt with hi"
  ${command} audit query --since 1h

Ctrl-C ends it${lifetime === "foreground" ? "" : " when nobody else uses it any more"}.
`;
}

async function untilAborted(signal: AbortSignal): Promise<false> {
  if (!signal.aborted) await once(signal, "abort");
  return false;
}

function isCancelled(thrown: unknown): boolean {
  return thrown instanceof HlvmError && thrown.code === "cancelled";
}

function ended(directory: string): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "mesh_ended",
    message: "The mesh has ended.",
    advice: `If nobody called \`hlvm down\`, the logs in ${directory}/logs say why.`,
  });
}
