import { once } from "node:events";
import { connectControlSocket } from "./connect-control-socket.ts";
import { DOWN, line } from "./control-protocol.ts";

/**
 * Takes a mesh down, whoever refers to it, and resolves when all of it has ended.
 * @throws HlvmError `mesh_gone`
 */
export async function stopMesh(controlSocket: string): Promise<void> {
  const socket = await connectControlSocket(controlSocket);
  const closed = once(socket, "close");
  socket.once("end", () => socket.end());
  socket.write(line(DOWN));
  await closed;
}
