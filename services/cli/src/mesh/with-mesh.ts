import type { Transport } from "@connectrpc/connect";
import type { CommandContext } from "../command.ts";
import { connectMesh } from "./connect-mesh.ts";
import { noteTrouble } from "./process-trouble.ts";

/** Does something with the mesh and lets go of it, whatever comes of it. */
export async function withMesh<T>(context: CommandContext, use: (transport: Transport) => Promise<T>, signal?: AbortSignal): Promise<T> {
  const mesh = await connectMesh(context, signal);
  noteTrouble(mesh.state, context.screen);
  try {
    return await use(mesh.transport);
  } finally {
    await mesh.release();
  }
}
