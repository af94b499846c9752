import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal, Role } from "@hlvm/identity/principal";
import { contains, type SessionRight } from "../sharing/session-grant.ts";
import type { Session } from "./session.ts";
import type { SessionStore } from "./session-store.ts";

/** Roles that let somebody use the sessions of others, and the right that is enough where one is shared with them. */
const FOR_OTHERS = {
  read: { roles: ["admin", "security-auditor"], right: "view" },
  comment: { roles: ["admin"], right: "comment" },
  /** Start runs in its workspace, steer and stop them, undo. */
  drive: { roles: ["admin"], right: "drive" },
  /** Rename, share, delete. */
  run: { roles: ["admin"], right: undefined },
} as const satisfies Record<string, { readonly roles: readonly Role[]; readonly right: SessionRight | undefined }>;

export type SessionUse = keyof typeof FOR_OTHERS;

/** Whether somebody may use a session of their organization. The roles are those of the token of this very call. */
async function mayUseSession(store: SessionStore, principal: Principal, session: Session, use: SessionUse): Promise<boolean> {
  const { roles, right } = FOR_OTHERS[use];
  const enough: readonly Role[] = roles;
  if (session.owner === principal.id || principal.roles.some((role) => enough.includes(role))) return true;
  if (right === undefined) return false;
  const theirs = await store.rightTo(session.sessionId, principal);
  return theirs !== undefined && contains(theirs, right);
}

/** What somebody may do with a session that they may read, and whether they may take it over. */
export async function sessionRight(
  store: SessionStore,
  principal: Principal,
  session: Session,
): Promise<{ readonly right: SessionRight; readonly offered: boolean }> {
  if (session.owner === principal.id) return { right: "own", offered: false };
  const theirs = (await store.rightTo(session.sessionId, principal)) ?? "view";
  const mayDrive = contains(theirs, "drive") || principal.roles.some((role) => FOR_OTHERS.drive.roles.some((one) => one === role));
  return { right: mayDrive ? "drive" : theirs, offered: theirs === "own" };
}

/** @throws HlvmError `session_not_found`, also for a session that is there and not for this person: nobody learns that it is */
export async function requireSession(store: SessionStore, principal: Principal, sessionId: string, use: SessionUse): Promise<Session> {
  const session = await store.find(principal.organization, sessionId);
  if (session !== undefined && (await mayUseSession(store, principal, session, use))) return session;
  throw new HlvmError({
    code: "not_found",
    reason: "session_not_found",
    message: `There is no session ${sessionId}.`,
    advice: "`hlvm session list` shows yours, and those that are shared with you.",
  });
}
