import { randomUUID } from "node:crypto";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import { eventPayload } from "../log/event-payload.ts";
import type { SharingAudit } from "../loop/ports.ts";
import { requireSession } from "../session/require-session.ts";
import type { GrantPorts } from "./change-grants.ts";

/**
 * Whoever was offered a session takes it. Policy finds in its own record that they were, before anything changes.
 * @returns its former owner; empty where it is theirs already
 * @throws HlvmError `session_not_found`, `session_not_offered`
 */
export async function takeSession(
  principal: Principal,
  sessionId: string,
  { grants, store, audit }: GrantPorts & { readonly audit: SharingAudit },
): Promise<string> {
  const { owner } = await requireSession(store, principal, sessionId, "drive");
  if (owner === principal.id) return "";
  if ((await store.rightTo(sessionId, principal)) !== "own") throw notOffered(sessionId, owner, principal.id);
  await audit.recordHandOver();
  await grants.take(sessionId, owner, principal.id);
  const payload = eventPayload("sessionTaken", { formerOwner: owner });
  await store.appendBesideRuns(sessionId, principal.id, { runId: randomUUID(), turn: 0, at: new Date(), payload });
  return owner;
}

function notOffered(sessionId: string, owner: string, principalId: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "session_not_offered",
    message: `${owner} has not offered session ${sessionId} to you.`,
    advice: `Ask them to: \`hlvm session hand-over ${sessionId} --to ${principalId}\`.`,
  });
}
