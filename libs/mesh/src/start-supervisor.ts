import { fileURLToPath } from "node:url";
import type { MeshState } from "./mesh-state.ts";
import { startLocked, type StartOptions } from "./start-locked.ts";

/** Run by its path, as a program: nothing here imports a service. */
const MAIN = fileURLToPath(new URL("../../../services/supervisor/src/main.ts", import.meta.url));

/**
 * Brings the mesh of a directory up and returns when it is ready. Several at once get one mesh.
 * @throws HlvmError the supervisor's own, naming the service, its port and its log file
 */
export function startSupervisor(options: StartOptions): Promise<MeshState> {
  return startLocked(MAIN, options);
}
