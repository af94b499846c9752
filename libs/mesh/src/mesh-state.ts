import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Lifetime } from "./lifetime.ts";

export interface ServiceState {
  readonly name: string;
  /** `not_answering`: its process is there, and has not answered the last question for its health. */
  readonly state: "up" | "not_answering" | "down";
  /** ISO 8601: since when it is in this state. */
  readonly since: string;
  /** Why it is not up. */
  readonly reason?: string;
  /** ISO 8601: when it is started again. Absent while it is up, and while a start is under way. */
  readonly nextAttempt?: string;
  /** Absent while it is down. */
  readonly pid?: number;
  /** Where it listens, or did when it was last up. Absent for what listens on no port. */
  readonly port?: number;
  readonly logFile: string;
}

/** What the supervisor says of a mesh that is up: `run/mesh.json` in the HLVM directory, gone when the mesh is. */
export interface MeshState {
  readonly supervisorPid: number;
  readonly lifetime: Lifetime;
  readonly edgeUrl: string;
  /** A file with the local user's token, mode 0600. */
  readonly tokenFile: string;
  /** Whoever stays connected to this Unix socket keeps the mesh up; see `referenceMesh`. */
  readonly controlSocket: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly services: readonly ServiceState[];
}

export function meshStateFile(directory: string): string {
  return join(directory, "run", "mesh.json");
}

/** The mesh of this HLVM directory, or undefined where none is up. A file left by a mesh that died does not count. */
export function readMeshState(directory: string): MeshState | undefined {
  try {
    const state = JSON.parse(readFileSync(meshStateFile(directory), "utf8")) as MeshState;
    process.kill(state.supervisorPid, 0);
    return state;
  } catch {
    return undefined;
  }
}
