import { randomUUID } from "node:crypto";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import { eventPayload } from "../log/event-payload.ts";
import { requireSession } from "./require-session.ts";
import type { Session } from "./session.ts";
import type { SessionStore } from "./session-store.ts";

/**
 * Makes a session of the caller's that begins with another one's events. They are copied, in one statement: watching, searching,
 * exporting and deleting then know of one kind of session only, and a fork is whole where what it was forked from is deleted.
 * @param at the last event that the fork has; 0: the last one that there is
 * @throws HlvmError `session_not_found`, `session_stateless`, `event_not_found`
 */
export async function forkSession(principal: Principal, sessionId: string, at: number, store: SessionStore): Promise<Session> {
  const parent = await requireSession(store, principal, sessionId, "read");
  if (parent.stateless)
    throw new HlvmError({
      code: "failed_precondition",
      reason: "session_stateless",
      message: "A stateless session is deleted after its one run, and cannot be forked.",
      advice: "Ask without --stateless for a session that is kept.",
    });
  const last = at === 0 ? parent.lastSequence : at;
  if (last > parent.lastSequence)
    throw new HlvmError({
      code: "not_found",
      reason: "event_not_found",
      message: `Session ${sessionId} has no event ${last}: its last one is ${parent.lastSequence}.`,
      advice: `\`hlvm session show ${sessionId} --json\` shows them with their numbers.`,
    });
  const forkId = randomUUID();
  const payload = eventPayload("sessionForked", { parentSessionId: sessionId, parentSequence: BigInt(last) });
  const forked = { runId: randomUUID(), turn: 0, at: new Date(), payload };
  if (!(await store.fork({ parentId: sessionId, at: last, forkId, owner: principal.id }, forked)))
    // It was deleted in this moment.
    await requireSession(store, principal, sessionId, "read");
  return requireSession(store, principal, forkId, "run");
}
