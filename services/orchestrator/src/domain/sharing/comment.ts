import { randomUUID } from "node:crypto";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import { eventPayload } from "../log/event-payload.ts";
import { RunSecrets } from "../secrets/run-secrets.ts";
import { requireSession } from "../session/require-session.ts";
import type { SessionStore } from "../session/session-store.ts";

/** Says something about a session that people see and the model does not. @returns its sequence @throws HlvmError `session_not_found`, `comment_empty` */
export async function comment(principal: Principal, sessionId: string, text: string, store: SessionStore): Promise<number> {
  const { secretKey } = await requireSession(store, principal, sessionId, "comment");
  const said = await new RunSecrets(secretKey, []).redactInTurns(text.trim());
  if (said === "")
    throw new HlvmError({
      code: "invalid_argument",
      reason: "comment_empty",
      message: "A comment says something.",
      advice: "Write a few words.",
    });
  const payload = eventPayload("comment", { text: said });
  const sequence = await store.appendBesideRuns(sessionId, principal.id, { runId: randomUUID(), turn: 0, at: new Date(), payload });
  if (sequence !== undefined) return sequence;
  // It was deleted in this moment.
  return (await requireSession(store, principal, sessionId, "comment")).lastSequence;
}
