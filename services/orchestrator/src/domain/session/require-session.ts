import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import { mayUseSession, type SessionUse } from "./may-use-session.ts";
import type { Session } from "./session.ts";
import type { SessionStore } from "./session-store.ts";

/** @throws HlvmError `session_not_found`, also for a session that is there and not for this person: nobody learns that it is */
export async function requireSession(store: SessionStore, principal: Principal, sessionId: string, use: SessionUse): Promise<Session> {
  const session = await store.find(principal.organization, sessionId);
  if (session !== undefined && mayUseSession(principal, session, use)) return session;
  throw new HlvmError({
    code: "not_found",
    reason: "session_not_found",
    message: `There is no session ${sessionId}.`,
    advice: "`hlvm session list` shows yours.",
  });
}
