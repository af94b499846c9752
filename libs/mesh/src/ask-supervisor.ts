import { HlvmError, type ErrorFields } from "@hlvm/errors/hlvm-error";
import { connectControlSocket } from "./connect-control-socket.ts";
import { line } from "./control-protocol.ts";

interface Asked {
  /** Of the control protocol. */
  readonly message: object;
  /** A supervisor of an earlier version does not know what is asked of it, and says nothing. */
  readonly deadlineMilliseconds: number;
  /** What may not have been done, for a person. */
  readonly unfinished: string;
}

/**
 * Asks the supervisor of a mesh for something that it answers with one line.
 * @throws HlvmError `mesh_gone`, or the supervisor's own
 */
export async function askSupervisor<Answer extends object>(controlSocket: string, asked: Asked): Promise<Answer> {
  const socket = await connectControlSocket(controlSocket);
  try {
    const answer = await new Promise<Answer | { readonly failed: ErrorFields }>((resolve, reject) => {
      let received = "";
      socket.on("error", reject);
      socket.once("end", () => reject(gone(asked)));
      socket.setTimeout(asked.deadlineMilliseconds, () => reject(gone(asked)));
      socket.on("data", (bytes) => {
        received += bytes.toString("utf8");
        if (received.endsWith("\n")) resolve(JSON.parse(received) as Answer);
      });
      socket.write(line(asked.message));
    });
    if ("failed" in answer) throw new HlvmError(answer.failed);
    return answer;
  } finally {
    socket.destroy();
  }
}

function gone({ unfinished }: Asked): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "mesh_gone",
    message: `The mesh ended, or did not answer, before ${unfinished}.`,
    advice: "Run the command again, after `hlvm down` where the mesh is still up: what was half made is not used.",
  });
}
