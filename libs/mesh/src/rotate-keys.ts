import { HlvmError, type ErrorFields } from "@hlvm/errors/hlvm-error";
import { connectControlSocket } from "./connect-control-socket.ts";
import { line, ROTATE_KEYS } from "./control-protocol.ts";

/** A supervisor of an earlier version does not know what is asked of it, and says nothing. */
const DEADLINE_MILLISECONDS = 30_000;

export interface RotatedKeys {
  /** Each service that signs, with the name of its new key and of the one before. */
  readonly rotated: readonly { readonly service: string; readonly kid: string; readonly replaced: string }[];
  /** ISO 8601. Until then counts what the replaced keys signed. */
  readonly replacedCountUntil: string;
}

/** What the supervisor answers. */
export type RotationAnswer = RotatedKeys | { readonly failed: ErrorFields };

/**
 * Has the supervisor of a mesh give every service that signs a new key. Nothing is interrupted; it takes some two seconds.
 * @throws HlvmError `mesh_gone`, or the supervisor's own
 */
export async function rotateKeys(controlSocket: string): Promise<RotatedKeys> {
  const socket = await connectControlSocket(controlSocket);
  try {
    const answer = await new Promise<RotationAnswer>((resolve, reject) => {
      let received = "";
      socket.on("error", reject);
      socket.once("end", () => reject(gone()));
      socket.setTimeout(DEADLINE_MILLISECONDS, () => reject(gone()));
      socket.on("data", (bytes) => {
        received += bytes.toString("utf8");
        if (received.endsWith("\n")) resolve(JSON.parse(received) as RotationAnswer);
      });
      socket.write(line(ROTATE_KEYS));
    });
    if ("failed" in answer) throw new HlvmError(answer.failed);
    return answer;
  } finally {
    socket.destroy();
  }
}

function gone(): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "mesh_gone",
    message: "The mesh ended, or did not answer, before it had rotated its keys.",
    advice: "Run the command again, after `hlvm down` where the mesh is still up: keys that were half made are not used.",
  });
}
