import { connect, type Socket } from "node:net";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { GREETING, line } from "./control-protocol.ts";

const GREETING_DEADLINE_MILLISECONDS = 5_000;

/**
 * A connection that the supervisor has greeted.
 * @throws HlvmError `mesh_gone` where no supervisor answers
 */
export async function connectControlSocket(controlSocket: string): Promise<Socket> {
  const socket = connect({ path: controlSocket, allowHalfOpen: true });
  try {
    await greeting(socket);
    return socket;
  } catch (cause) {
    socket.destroy();
    throw new HlvmError({
      code: "unavailable",
      reason: "mesh_gone",
      message: `The mesh behind ${controlSocket} does not answer.`,
      advice: "It is ending or has ended; run the command again.",
      cause,
    });
  }
}

function greeting(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = "";
    const deadline = setTimeout(() => reject(new Error("no greeting in time")), GREETING_DEADLINE_MILLISECONDS);
    socket.on("close", () => clearTimeout(deadline));
    socket.on("error", reject);
    socket.on("end", () => reject(new Error("closed without a greeting")));
    socket.on("data", (bytes) => {
      received += bytes.toString("utf8");
      if (!received.startsWith(line(GREETING))) return;
      clearTimeout(deadline);
      resolve();
    });
  });
}
