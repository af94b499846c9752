import type { EntityJson, TypeAndId } from "@cedar-policy/cedar-wasm/nodejs";
import type { Principal } from "@hlvm/identity/principal";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { SafetyLevel } from "@hlvm/tools/tool-definition";
import { askCedar } from "./ask-cedar.ts";

/** For people; what takes which role, the policies say. */
const ACTIONS = {
  run_tools: { words: "run tools", roles: "developer or admin" },
  answer_approvals: { words: "answer approvals", roles: "approver or admin" },
  set_budgets: { words: "set budgets", roles: "admin" },
  manage_teams: { words: "change teams", roles: "admin" },
  manage_members: { words: "change members, roles and groups", roles: "admin" },
  read_audit: { words: "read the audit log", roles: "security-auditor or admin" },
} as const;

export type Authority = keyof typeof ACTIONS;

/** Of which levels nobody answers what they asked for themselves. */
export type FourEyes = ReadonlySet<SafetyLevel>;

interface AnsweredApproval {
  readonly isOwn: boolean;
  readonly level: SafetyLevel;
}

/** Roles, action and what else counts → the answer: it depends on nothing else, and runs ask at every call. */
const known = new Map<string, boolean>();
const MOST_KNOWN = 1_000;
const NOT_OWN: AnsweredApproval = { isOwn: false, level: "L0" };
const NONE: FourEyes = new Set();

/** Whether one of this person's roles lets them do it. The roles are those of the token of this very call. */
export function hasAuthority({ roles }: Pick<Principal, "roles">, authority: Authority): boolean {
  return decided(roles, authority, NOT_OWN, NONE);
}

/** Whether they may answer this very approval. */
export function mayAnswer({ roles }: Pick<Principal, "roles">, approval: AnsweredApproval, fourEyes: FourEyes): boolean {
  return decided(roles, "answer_approvals", approval, fourEyes);
}

/** @throws HlvmError `role_missing` */
export function demandAuthority(principal: Principal, authority: Authority): void {
  if (hasAuthority(principal, authority)) return;
  const { roles, words } = ACTIONS[authority];
  throw new HlvmError({
    code: "permission_denied",
    reason: "role_missing",
    message: `${principal.id} may not ${words}: that takes the role ${roles}.`,
    advice: "Ask an administrator of your organization for the role.",
  });
}

function decided(roles: readonly string[], action: Authority, { isOwn, level }: AnsweredApproval, fourEyes: FourEyes): boolean {
  const key = [action, isOwn, level, ...[...fourEyes].sort(), "", ...[...roles].sort()].join(" ");
  const before = known.get(key);
  if (before !== undefined) return before;
  // One's own organization is the only one that anybody is ever asked about.
  const organization: TypeAndId = { type: "HLVM::Organization", id: "own" };
  const principal: TypeAndId = { type: "HLVM::User", id: "caller" };
  const entities: EntityJson[] = [
    { uid: organization, attrs: { fourEyes: [...fourEyes] }, parents: [] },
    {
      uid: principal,
      attrs: { organization: { __entity: organization } },
      parents: roles.map((id) => ({ type: "HLVM::Role", id })),
    },
  ];
  const context: Record<string, boolean | string> = action === "answer_approvals" ? { isOwn, level } : {};
  const answer = askCedar({ principal, action, resource: organization, context, entities });
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(key, answer);
  return answer;
}
