import { fileURLToPath } from "node:url";
import { bundledMain } from "@hlvm/bundle/bundled-main";
import { referenceMesh } from "@hlvm/mesh/reference-mesh";
import type { Lifetime } from "@hlvm/mesh/lifetime";
import type { CommandContext } from "../command.ts";
import type { ReferencedMesh } from "./reference-running-mesh.ts";
import { startProgress } from "./start-progress.ts";

/** Run as a program: nothing of it is imported. */
const SUPERVISOR = fileURLToPath(new URL("../../../supervisor/src/main.ts", import.meta.url));

/**
 * Starts this machine's mesh and keeps a reference to it. Where somebody else was quicker it is theirs, with their lifetime.
 * @param signal an abort gives the start up and waits until all that was begun has ended
 * @throws HlvmError
 */
export async function startReferencedMesh(
  { config, screen }: CommandContext,
  lifetime: Lifetime,
  signal: AbortSignal | undefined,
  settings: Readonly<Record<string, string>> = {},
): Promise<ReferencedMesh> {
  const { startLocked } = await import("@hlvm/mesh/start-locked");
  const progress = startProgress(screen);
  try {
    const state = await startLocked(bundledMain(SUPERVISOR), {
      directory: config.directory,
      lifetime,
      onProgress: progress.line,
      signal,
      settings,
    });
    return { state, reference: await referenceMesh(state.controlSocket) };
  } finally {
    progress.end();
  }
}
