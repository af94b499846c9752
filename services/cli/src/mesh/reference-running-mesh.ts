import { HlvmError } from "@hlvm/errors/hlvm-error";
import { referenceMesh, type MeshReference } from "@hlvm/mesh/reference-mesh";
import { readMeshState, type MeshState } from "@hlvm/mesh/mesh-state";

export interface ReferencedMesh {
  readonly state: MeshState;
  readonly reference: MeshReference;
}

/** Refers to the mesh of this directory; undefined where none is up, or where it is just ending and the next one can start. */
export async function referenceRunningMesh(directory: string): Promise<ReferencedMesh | undefined> {
  const state = readMeshState(directory);
  if (state === undefined) return undefined;
  try {
    return { state, reference: await referenceMesh(state.controlSocket) };
  } catch (thrown) {
    if (thrown instanceof HlvmError && thrown.reason === "mesh_gone") return undefined;
    throw thrown;
  }
}
