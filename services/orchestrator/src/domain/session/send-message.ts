import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import type { Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { Attachment } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { EventLog } from "../log/event-log.ts";
import { eventPayload } from "../log/event-payload.ts";
import type { RunInboxes } from "../run/run-inboxes.ts";
import { RunSecrets } from "../secrets/run-secrets.ts";
import type { AttachedFiles } from "./attached-files.ts";
import { requireSession } from "./require-session.ts";
import type { QueuedAt, SessionStore } from "./session-store.ts";
import { redactAttachments, requireRoom, requireTaken, takeAttachments } from "./take-attachments.ts";

const MOST_TEXT_BYTES = 1024 * 1024;

export interface MessageSent {
  readonly principal: Principal;
  readonly sessionId: string;
  readonly text: string;
  /** Whether the turn in hand is stopped for it. */
  readonly interrupt: boolean;
  readonly attachments: readonly Attachment[];
}

export interface MessagePorts {
  readonly store: SessionStore;
  readonly attached: AttachedFiles;
  readonly log: Pick<EventLog, "readContext">;
  readonly inboxes: Pick<RunInboxes, "wake">;
}

/**
 * Queues a message for the run that is going on in a session. It is in the log when this resolves.
 * @throws HlvmError `session_not_found`, `no_run`, `attachment_not_taken`, `attachment_not_readable`, `attachment_too_large`
 */
export async function sendMessage(sent: MessageSent, { store, attached, log, inboxes }: MessagePorts): Promise<QueuedAt> {
  const { principal, sessionId, text, interrupt } = sent;
  const session = await requireSession(store, principal, sessionId, "drive");
  const { attachments, files } = takeAttachments(sent.attachments);
  requireShort(text, attachments);
  if (files.length > 0) {
    requireTaken(attachments, await modelOf(sessionId, log));
    await requireRoom(sessionId, files, attached);
  }
  const secrets = new RunSecrets(session.secretKey, []);
  const payload = eventPayload("messageQueued", {
    text: await secrets.redactInTurns(text),
    interrupts: interrupt,
    attachments: await redactAttachments(attachments, secrets),
  });
  const queued = await store.queueMessage(sessionId, principal.id, payload, files);
  if (queued === undefined) throw noRun(sessionId);
  // Another replica that holds the run is told by the database.
  inboxes.wake(queued.runId);
  return queued;
}

/** Unread messages wait in memory, up to a thousand of a run. */
function requireShort(text: string, attachments: readonly Attachment[]): void {
  const bytes = attachments.reduce((sum, attachment) => sum + Buffer.byteLength(attachment.text), Buffer.byteLength(text));
  if (bytes <= MOST_TEXT_BYTES) return;
  throw new HlvmError({
    code: "resource_exhausted",
    reason: "attachment_too_large",
    message: "The message and the texts that are attached to it are larger than 1 MB together.",
    advice: "Put long text into a file of the workspace, and say where it is.",
  });
}

/** As the gateway described it to the session's latest run. @throws HlvmError `no_run` */
async function modelOf(sessionId: string, log: MessagePorts["log"]): Promise<Model> {
  const started = (await log.readContext(sessionId)).findLast(({ payload }) => payload.case === "runStarted")?.payload;
  if (started?.case !== "runStarted" || started.value.resolvedModel === undefined) throw noRun(sessionId);
  return started.value.resolvedModel;
}

function noRun(sessionId: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "no_run",
    message: `No run is going on in session ${sessionId} that could read a message.`,
    advice: `\`hlvm ask --resume ${sessionId} "…"\` begins one.`,
  });
}
