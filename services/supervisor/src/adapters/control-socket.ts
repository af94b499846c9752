import { chmodSync, rmSync } from "node:fs";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { BackupAnswer } from "@hlvm/mesh/back-up";
import { backUpFolder, DOWN, GREETING, line, ROTATE_KEYS } from "@hlvm/mesh/control-protocol";
import type { RotationAnswer } from "@hlvm/mesh/rotate-keys";

export interface ControlEvents {
  /** Somebody refers to the mesh from now on; what is returned is called once when that ends. */
  readonly onReference: () => () => void;
  readonly onDown: () => void;
  readonly onRotateKeys: () => Promise<RotationAnswer>;
  readonly onBackUp: (folder: string) => Promise<BackupAnswer>;
}

export interface ControlSocket {
  /** Greets nobody any more and tells those who refer to the mesh; those who asked for the end wait on for the end of this process. */
  readonly close: () => void;
}

const MAXIMUM_COMMAND_BYTES = 8_192;

/** Listens on the Unix socket that `referenceMesh`, `stopMesh`, `rotateKeys` and `backUp` connect to. One left by a supervisor that died is replaced. */
export async function openControlSocket(path: string, events: ControlEvents): Promise<ControlSocket> {
  const references = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const release = events.onReference();
    references.add(socket);
    const leave = (): void => {
      references.delete(socket);
      release();
    };
    socket.on("error", () => socket.destroy());
    socket.once("close", leave);
    socket.once("end", () => {
      leave();
      if (server.listening) socket.end();
    });
    onFirstLine(socket, (command) => {
      if (command === line(DOWN)) {
        references.delete(socket);
        events.onDown();
      }
      if (command === line(ROTATE_KEYS)) void events.onRotateKeys().then((answer) => socket.write(line(answer)));
      const folder = backUpFolder(command);
      if (folder !== undefined) void events.onBackUp(folder).then((answer) => socket.write(line(answer)));
    });
    socket.write(line(GREETING));
  });
  rmSync(path, { force: true });
  server.listen(path);
  await once(server, "listening");
  chmodSync(path, 0o600);
  return {
    close: () => {
      server.close();
      for (const socket of references) socket.end();
    },
  };
}

function onFirstLine(socket: Socket, listener: (command: string) => void): void {
  let received = "";
  socket.on("data", (bytes) => {
    received += bytes.toString("utf8");
    if (received.length > MAXIMUM_COMMAND_BYTES) socket.destroy();
    else if (received.endsWith("\n")) listener(received);
  });
}
