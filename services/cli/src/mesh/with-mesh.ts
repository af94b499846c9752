import type { Transport } from "@connectrpc/connect";
import type { CommandContext } from "../command.ts";
import { connectMesh } from "./connect-mesh.ts";

/** Does something with the mesh and lets go of it, whatever comes of it. */
export async function withMesh<T>({ config, screen }: CommandContext, use: (transport: Transport) => Promise<T>): Promise<T> {
  const mesh = await connectMesh(config, screen);
  try {
    return await use(mesh.transport);
  } finally {
    await mesh.release();
  }
}
