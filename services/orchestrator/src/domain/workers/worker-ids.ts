import { createHash } from "node:crypto";

export interface WorkerIds {
  readonly sessionId: string;
  readonly runId: string;
}

/**
 * A worker's ids follow from the call that starts it, so that whoever makes the call again, as after a take-over, finds the
 * worker that is there and starts no second one.
 */
export function workerIds(callId: string): WorkerIds {
  return { sessionId: idOf(`session ${callId}`), runId: idOf(`run ${callId}`) };
}

/** A UUID of version 8 (RFC 9562), whose content is up to who makes it. */
function idOf(name: string): string {
  const hex = createHash("sha256").update(`hlvm worker ${name}`).digest("hex");
  const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
