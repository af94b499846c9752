import { open } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import type { Client } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import type { PackedFolder } from "./pack-folder.ts";

const MEBIBYTE = 1024 * 1024;
const CHUNK_BYTES = MEBIBYTE;
const CALL_MILLISECONDS = 60_000;
/** Unpacking a large repository is git's work of minutes. */
const FINISH_MILLISECONDS = 600_000;
/** In a row, without a byte that came through. */
const ATTEMPTS = 8;
const PAUSE_MILLISECONDS = 500;
const BROKEN = new Set(["unavailable", "deadline_exceeded"]);

export interface Sending {
  readonly sessionId: string;
  readonly pack: PackedFolder;
  /** In which the session's commands run; absent: with the machine's programs. */
  readonly image?: string;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

/** Sends a pack, and goes on where it was after a broken connection. @throws HlvmError */
export async function sendPack(client: Client<typeof SandboxService>, sending: Sending): Promise<void> {
  const { pack, signal, sessionId } = sending;
  const file = await open(pack.file);
  let best = -1;
  let failures = 0;
  try {
    for (;;) {
      try {
        await sendRest(client, sending, file, (received) => {
          if (received > best) failures = 0;
          best = Math.max(best, received);
        });
        await client.finishUpload({ sessionId }, { signal, timeoutMs: FINISH_MILLISECONDS });
        return;
      } catch (thrown) {
        const error = fromConnectError(thrown);
        signal.throwIfAborted();
        if (error.reason === "workspace_too_large") throw tooLarge(error, pack);
        if (!BROKEN.has(error.code) || ++failures >= ATTEMPTS) throw error;
        sending.onProgress("the connection is lost; going on with it");
        await wait(PAUSE_MILLISECONDS * failures, undefined, { signal });
      }
    }
  } finally {
    await file.close();
  }
}

async function sendRest(
  client: Client<typeof SandboxService>,
  { sessionId, pack, image, signal, onProgress }: Sending,
  file: Awaited<ReturnType<typeof open>>,
  onReceived: (bytes: number) => void,
): Promise<void> {
  const options = { signal, timeoutMs: CALL_MILLISECONDS };
  const { name, head, snapshot, branch, shallow, sha256, size } = pack;
  const begin = { sessionId, name, head, snapshot, branch, shallow: [...shallow], sha256, size: BigInt(size), image };
  let received = Number((await client.beginUpload(begin, options)).received);
  const buffer = new Uint8Array(CHUNK_BYTES);
  while (received < size) {
    onReceived(received);
    onProgress(`sending the workspace: ${Math.floor(received / MEBIBYTE)} of ${Math.ceil(size / MEBIBYTE)} MiB`);
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, received);
    const chunk = { sessionId, offset: BigInt(received), data: buffer.slice(0, bytesRead) };
    received = Number((await client.uploadChunk(chunk, options)).received);
  }
  onReceived(received);
  onProgress("unpacking the workspace");
}

function tooLarge(error: HlvmError, { largest }: PackedFolder): HlvmError {
  return new HlvmError({
    code: error.code,
    reason: error.reason,
    message: `${error.message} The largest files: ${largest.join(", ")}.`,
    advice: error.advice,
    cause: error,
  });
}
