import { chmodSync, rmSync } from "node:fs";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { DOWN, GREETING, line, ROTATE_KEYS } from "@hlvm/mesh/control-protocol";
import type { RotationAnswer } from "@hlvm/mesh/rotate-keys";

export interface ControlEvents {
  /** Somebody holds the mesh from now on; what is returned is called once when that ends. */
  readonly onHold: () => () => void;
  readonly onDown: () => void;
  readonly onRotateKeys: () => Promise<RotationAnswer>;
}

export interface ControlSocket {
  /** Greets nobody any more and tells the holders; those who asked for the end wait on for the end of this process. */
  readonly close: () => void;
}

const MAXIMUM_COMMAND_BYTES = 1_024;

/** Listens on the Unix socket that `holdMesh`, `stopMesh` and `rotateKeys` connect to. One left by a supervisor that died is replaced. */
export async function openControlSocket(path: string, events: ControlEvents): Promise<ControlSocket> {
  const holders = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const release = events.onHold();
    holders.add(socket);
    const leave = (): void => {
      holders.delete(socket);
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
        holders.delete(socket);
        events.onDown();
      }
      if (command === line(ROTATE_KEYS)) void events.onRotateKeys().then((answer) => socket.write(line(answer)));
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
      for (const socket of holders) socket.end();
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
