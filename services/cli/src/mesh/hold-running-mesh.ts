import { HlvmError } from "@hlvm/errors/hlvm-error";
import { holdMesh, type MeshHold } from "@hlvm/mesh/hold-mesh";
import { readMeshState, type MeshState } from "@hlvm/mesh/mesh-state";

export interface HeldMesh {
  readonly state: MeshState;
  readonly hold: MeshHold;
}

/** Holds the mesh of this directory; undefined where none is up, or where it is just ending and the next one can start. */
export async function holdRunningMesh(directory: string): Promise<HeldMesh | undefined> {
  const state = readMeshState(directory);
  if (state === undefined) return undefined;
  try {
    return { state, hold: await holdMesh(state.controlSocket) };
  } catch (thrown) {
    if (thrown instanceof HlvmError && thrown.reason === "mesh_gone") return undefined;
    throw thrown;
  }
}
