import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Session } from "./session.ts";
import type { SessionStore } from "./session-store.ts";

/** @throws HlvmError `session_not_found`, for another organization's session too */
export async function requireSession(store: SessionStore, organization: string, sessionId: string): Promise<Session> {
  const session = await store.find(organization, sessionId);
  if (session !== undefined) return session;
  throw new HlvmError({
    code: "not_found",
    reason: "session_not_found",
    message: `There is no session ${sessionId}.`,
    advice: "`hlvm session list` shows yours.",
  });
}
