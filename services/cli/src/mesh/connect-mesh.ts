import { readFileSync } from "node:fs";
import type { Transport } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { MeshState } from "@hlvm/mesh/mesh-state";
import type { CommandContext } from "../command.ts";
import type { CliConfig } from "../config.ts";
import { ProfileStore } from "../profiles/profile-store.ts";
import { profileToken } from "../profiles/profile-token.ts";
import type { Screen } from "../terminal/screen.ts";
import { createEdgeTransport } from "./create-edge-transport.ts";
import { referenceRunningMesh, type ReferencedMesh } from "./reference-running-mesh.ts";

/** A way to the edge, for as long as one command lasts. */
export interface MeshConnection {
  readonly transport: Transport;
  /** Undefined for an edge that HLVM_EDGE_URL or a profile names. */
  readonly state: MeshState | undefined;
  /** Resolves when the mesh ends although this command uses it. */
  readonly lost: Promise<void>;
  /** It was started for this command, and is only kept by others who came to use it. */
  readonly endsWithUs: boolean;
  /** Lets go; where nobody else uses a mesh that was started for this command, it has ended when this resolves. */
  readonly release: () => Promise<void>;
}

/**
 * The edge that HLVM_EDGE_URL names, else the one of the profile that is chosen, else this machine's mesh, else one that is started for as long as the command lasts.
 * @param signal an abort gives up the start of a mesh, and waits until all that was begun has ended
 * @throws HlvmError
 */
export async function connectMesh(context: CommandContext, signal?: AbortSignal): Promise<MeshConnection> {
  const { config, screen, traceparent } = context;
  if (config.edgeUrl !== "") return connectRemote(config, traceparent);
  const store = new ProfileStore(config.directory);
  const chosen = store.chosen(config.profile);
  if (chosen !== undefined) return remote(createEdgeTransport(chosen.profile.url, profileToken(store, chosen.name), traceparent));
  const running = await referenceRunningMesh(config.directory);
  if (running !== undefined) return connectLocal(running, traceparent);
  const { startReferencedMesh } = await import("./start-referenced-mesh.ts");
  return endedAloud(await connectLocal(await startReferencedMesh(context, "while-referenced", signal), traceparent), screen);
}

/** Ending a whole mesh takes a moment, and a person should know what is waited for. */
function endedAloud(mesh: MeshConnection, screen: Screen): MeshConnection {
  const release = async (): Promise<void> => {
    screen.status("ending the mesh");
    await mesh.release();
    screen.status("");
  };
  return { ...mesh, endsWithUs: true, release };
}

function connectRemote({ edgeUrl, token: given }: CliConfig, traceparent: string): MeshConnection {
  // As it is pasted or read from a file: with a line's end.
  const token = given.trim();
  if (/[^!-~]/.test(token))
    throw new HlvmError({
      code: "invalid_argument",
      reason: "invalid_configuration",
      message: "HLVM_TOKEN has a blank, a line's end or another character in it that no token has.",
      advice: "Copy it again, whole and nothing else.",
    });
  if (!URL.canParse(edgeUrl) || !/^https?:$/.test(new URL(edgeUrl).protocol) || token === "")
    throw new HlvmError({
      code: "invalid_argument",
      reason: "invalid_configuration",
      message: token === "" ? "HLVM_EDGE_URL is set and HLVM_TOKEN is not." : `HLVM_EDGE_URL is not an http address: ${edgeUrl}`,
      advice: "Set both to use an edge elsewhere, or neither to use this machine's mesh.",
    });
  return remote(createEdgeTransport(edgeUrl, token, traceparent));
}

function remote(transport: Transport): MeshConnection {
  return { transport, state: undefined, lost: new Promise(() => {}), endsWithUs: false, release: async () => {} };
}

async function connectLocal({ state, reference }: ReferencedMesh, traceparent: string): Promise<MeshConnection> {
  try {
    const transport = createEdgeTransport(state.edgeUrl, readToken(state.tokenFile), traceparent);
    return { transport, state, lost: reference.lost, endsWithUs: false, release: reference.release };
  } catch (thrown) {
    await reference.release();
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
