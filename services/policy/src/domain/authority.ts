import type { Principal, Role } from "@hlvm/identity/principal";
import { HlvmError } from "@hlvm/errors/hlvm-error";

const NEEDED = {
  run_tools: { roles: ["developer", "admin"], words: "run tools" },
  answer_approvals: { roles: ["approver", "admin"], words: "answer approvals" },
  set_budgets: { roles: ["admin"], words: "set budgets" },
  manage_teams: { roles: ["admin"], words: "change teams" },
  manage_members: { roles: ["admin"], words: "change members, roles and groups" },
  read_audit: { roles: ["security-auditor", "admin"], words: "read the audit log" },
} as const satisfies Record<string, { roles: readonly Role[]; words: string }>;

export type Authority = keyof typeof NEEDED;

/** Whether one of this person's roles lets them do it. The roles are those of the token of this very call. */
export function hasAuthority(principal: Principal, authority: Authority): boolean {
  return principal.roles.some((role) => (NEEDED[authority].roles as readonly Role[]).includes(role));
}

/** @throws HlvmError `role_missing` */
export function demandAuthority(principal: Principal, authority: Authority): void {
  if (hasAuthority(principal, authority)) return;
  const { roles, words } = NEEDED[authority];
  throw new HlvmError({
    code: "permission_denied",
    reason: "role_missing",
    message: `${principal.id} may not ${words}: that takes the role ${roles.join(" or ")}.`,
    advice: "Ask an administrator of your organization for the role.",
  });
}
