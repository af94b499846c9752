import type { Principal, Role } from "@hlvm/identity/principal";
import type { Session } from "./session.ts";

/** Roles that let somebody use the sessions of others: read them, or start and cancel runs there. */
const ROLES_FOR_OTHERS = {
  read: ["admin", "security-auditor"],
  run: ["admin"],
} as const satisfies Record<string, readonly Role[]>;

export type SessionUse = keyof typeof ROLES_FOR_OTHERS;

/** Whether somebody may use a session of their organization. The roles are those of the token of this very call. */
export function mayUseSession(principal: Principal, session: Session, use: SessionUse): boolean {
  const roles: readonly Role[] = ROLES_FOR_OTHERS[use];
  return session.owner === principal.id || principal.roles.some((role) => roles.includes(role));
}
