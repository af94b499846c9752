import type { Role } from "@hlvm/identity/principal";
import type { AuditEvent } from "../audit/audit-event.ts";
import type { GroupMapping, Member } from "./member.ts";

export interface MemberFilter {
  /** Found in principal, name or e-mail; empty: all. */
  readonly text: string;
  /** The last principal of the page before. */
  readonly after: string;
  readonly limit: number;
}

/** How a change came out: done, or as it was already, without another event. `last_administrator`: it was not made. */
export type MemberChange = "done" | "unchanged" | "no_member" | "no_team" | "last_administrator";

/**
 * The people of organizations. The event that belongs to a change is committed with it, and no change is committed after which
 * an organization that had an active administrator has none.
 */
export interface MemberStore {
  find(organization: string, principal: string): Promise<Member | undefined>;
  /** None where they are suspended; undefined where there is no such member. */
  rolesNow(organization: string, principal: string): Promise<readonly Role[] | undefined>;
  /** By principal. */
  list(organization: string, filter: MemberFilter): Promise<Member[]>;
  addRole(organization: string, principal: string, role: Role, event: AuditEvent): Promise<MemberChange>;
  /** What was given by hand. */
  removeRole(organization: string, principal: string, role: Role, event: AuditEvent): Promise<MemberChange>;
  /** Ends all their logins too. */
  suspend(organization: string, principal: string, event: AuditEvent): Promise<MemberChange>;
  resume(organization: string, principal: string, event: AuditEvent): Promise<MemberChange>;
  mappings(organization: string): Promise<GroupMapping[]>;
  map(organization: string, mapping: GroupMapping, event: AuditEvent): Promise<MemberChange>;
  unmap(organization: string, mapping: GroupMapping, event: AuditEvent): Promise<MemberChange>;
  /**
   * Makes who has this address an administrator, or has them become one at their next login; and has groups give roles.
   * @returns their principal, empty where nobody with it has logged in; undefined where there is an administrator already
   */
  nameAdministrator(
    organization: string,
    named: { readonly email: string; readonly mappings: readonly GroupMapping[] },
    events: readonly AuditEvent[],
  ): Promise<string | undefined>;
}
