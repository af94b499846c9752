import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal, Role } from "@hlvm/identity/principal";
import type { Session } from "./session.ts";
import type { SessionStore } from "./session-store.ts";

/** Roles that let somebody use the sessions of others: read them, or start and cancel runs there. */
const ROLES_FOR_OTHERS = {
  read: ["admin", "security-auditor"],
  run: ["admin"],
} as const satisfies Record<string, readonly Role[]>;

type SessionUse = keyof typeof ROLES_FOR_OTHERS;

/** Whether somebody may use a session of their organization. The roles are those of the token of this very call. */
function mayUseSession(principal: Principal, session: Session, use: SessionUse): boolean {
  const roles: readonly Role[] = ROLES_FOR_OTHERS[use];
  return session.owner === principal.id || principal.roles.some((role) => roles.includes(role));
}

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
