import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import { eventPayload } from "../log/event-payload.ts";
import type { RunInboxes } from "../run/run-inboxes.ts";
import { RunSecrets } from "../secrets/run-secrets.ts";
import { requireSession } from "./require-session.ts";
import type { QueuedAt, SessionStore } from "./session-store.ts";

export interface MessageSent {
  readonly principal: Principal;
  readonly sessionId: string;
  readonly text: string;
  /** Whether the turn in hand is stopped for it. */
  readonly interrupt: boolean;
}

/**
 * Queues a message for the run that is going on in a session. It is in the log when this resolves.
 * @throws HlvmError `session_not_found`, `no_run`
 */
export async function sendMessage(
  { principal, sessionId, text, interrupt }: MessageSent,
  store: SessionStore,
  inboxes: Pick<RunInboxes, "wake">,
): Promise<QueuedAt> {
  const session = await requireSession(store, principal, sessionId, "run");
  const redacted = await new RunSecrets(session.secretKey, []).redactInTurns(text);
  const payload = eventPayload("messageQueued", { text: redacted, interrupts: interrupt });
  const queued = await store.queueMessage(sessionId, principal.id, payload);
  if (queued === undefined) throw noRun(sessionId);
  // Another replica that holds the run is told by the database.
  inboxes.wake(queued.runId);
  return queued;
}

function noRun(sessionId: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "no_run",
    message: `No run is going on in session ${sessionId} that could read a message.`,
    advice: `\`hlvm ask --resume ${sessionId} "…"\` begins one.`,
  });
}
