import { readMeshState } from "@hlvm/mesh/mesh-state";
import { stopMesh } from "@hlvm/mesh/stop-mesh";
import { EXIT_OK, type CommandContext } from "../command.ts";

/** Ends the mesh, whoever started it, and waits until all of it has ended. */
export async function down({ config, screen }: CommandContext): Promise<number> {
  const running = readMeshState(config.directory);
  if (running === undefined) {
    screen.note("No mesh is up.");
    return EXIT_OK;
  }
  screen.status("ending");
  await stopMesh(running.controlSocket);
  screen.status("");
  screen.note("HLVM has ended.");
  return EXIT_OK;
}
