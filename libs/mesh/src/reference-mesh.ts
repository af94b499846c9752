import { once } from "node:events";
import { connectControlSocket } from "./connect-control-socket.ts";

/** A mesh does not end on its own while there is a reference to it, unless somebody takes it down. */
export interface MeshReference {
  /** Lets go. Resolves at once where the mesh lives on, and else when all of it has ended. */
  readonly release: () => Promise<void>;
  /** Resolves when the mesh goes all the same; never after `release`. */
  readonly lost: Promise<void>;
}

/**
 * Refers to a mesh through its control socket: the reference ends with this process too, however that ends.
 * It does not keep this process running.
 * @throws HlvmError `mesh_gone`
 */
export async function referenceMesh(controlSocket: string): Promise<MeshReference> {
  const socket = await connectControlSocket(controlSocket);
  let released = false;
  const closed = once(socket, "close");
  socket.once("end", () => socket.end());
  socket.unref();
  return {
    release: async () => {
      released = true;
      socket.ref();
      socket.end();
      await closed;
    },
    lost: new Promise((resolve) => {
      socket.once("close", () => {
        if (!released) resolve();
      });
    }),
  };
}
