import { readFileSync } from "node:fs";
import type { Transport } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { holdMesh } from "@hlvm/mesh/hold-mesh";
import { readMeshState, type MeshState } from "@hlvm/mesh/mesh-state";
import type { CliConfig } from "../config.ts";
import type { Screen } from "../terminal/screen.ts";
import { createEdgeTransport } from "./create-edge-transport.ts";
import { startProgress } from "./start-progress.ts";

/** A way to the edge, for as long as one command lasts. */
export interface MeshConnection {
  readonly transport: Transport;
  /** Undefined for an edge that HLVM_EDGE_URL names. */
  readonly state: MeshState | undefined;
  /** Resolves when the mesh ends although this command uses it. */
  readonly lost: Promise<void>;
  /** Lets go; where nobody else uses a mesh that was started for this command, it has ended when this resolves. */
  readonly release: () => Promise<void>;
}

/**
 * The edge that HLVM_EDGE_URL names, else this machine's mesh, else one that is started for as long as the command lasts.
 * @throws HlvmError
 */
export async function connectMesh(config: CliConfig, screen: Screen): Promise<MeshConnection> {
  if (config.edgeUrl !== "") return connectRemote(config);
  const running = readMeshState(config.directory);
  if (running !== undefined) {
    try {
      return await connectLocal(running);
    } catch (thrown) {
      // It is just ending: the next one can start when it has.
      if (!(thrown instanceof HlvmError) || thrown.reason !== "mesh_gone") throw thrown;
    }
  }
  const { startSupervisor } = await import("@hlvm/mesh/start-supervisor");
  const progress = startProgress(screen);
  try {
    const state = await startSupervisor({ directory: config.directory, lifetime: "while-held", onProgress: progress.line });
    return endedAloud(await connectLocal(state), screen);
  } finally {
    progress.end();
  }
}

/** Ending a whole mesh takes a moment, and a person should know what is waited for. */
function endedAloud(mesh: MeshConnection, screen: Screen): MeshConnection {
  const release = async (): Promise<void> => {
    screen.status("ending the mesh");
    await mesh.release();
    screen.status("");
  };
  return { ...mesh, release };
}

function connectRemote({ edgeUrl, token }: CliConfig): MeshConnection {
  if (!URL.canParse(edgeUrl) || !/^https?:$/.test(new URL(edgeUrl).protocol) || token === "")
    throw new HlvmError({
      code: "invalid_argument",
      reason: "invalid_configuration",
      message: token === "" ? "HLVM_EDGE_URL is set and HLVM_TOKEN is not." : `HLVM_EDGE_URL is not an http address: ${edgeUrl}`,
      advice: "Set both to use an edge elsewhere, or neither to use this machine's mesh.",
    });
  return { transport: createEdgeTransport(edgeUrl, token), state: undefined, lost: new Promise(() => {}), release: async () => {} };
}

async function connectLocal(state: MeshState): Promise<MeshConnection> {
  const hold = await holdMesh(state.controlSocket);
  try {
    const transport = createEdgeTransport(state.edgeUrl, readToken(state.tokenFile));
    return { transport, state, lost: hold.lost, release: hold.release };
  } catch (thrown) {
    await hold.release();
    throw thrown;
  }
}

function readToken(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new HlvmError({
      code: "failed_precondition",
      reason: "token_not_readable",
      message: `The token in ${file} cannot be read: ${(cause as Error).message}.`,
      advice: "Run hlvm as the user who started the mesh, or set HLVM_EDGE_URL and HLVM_TOKEN.",
      cause,
    });
  }
}
