import { once } from "node:events";
import { connectControlSocket } from "./connect-control-socket.ts";

/** A mesh that cannot end on its own while this is held, unless somebody takes it down. */
export interface MeshHold {
  /** Lets go. Resolves at once where the mesh lives on, and else when all of it has ended. */
  readonly release: () => Promise<void>;
  /** Resolves when the mesh goes although it is held; never after `release`. */
  readonly lost: Promise<void>;
}

/**
 * Holds a mesh up through its control socket, a lifeline: the hold ends with this process too, however that ends.
 * It does not keep this process running.
 * @throws HlvmError `mesh_gone`
 */
export async function holdMesh(controlSocket: string): Promise<MeshHold> {
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
