import type { Role } from "@hlvm/identity/principal";

export interface HeldRole {
  readonly role: Role;
  readonly source: "group" | "manual";
  /** The identity provider's, where the role is from one; else empty. */
  readonly group: string;
}

/** A person of an organization, who has logged in at least once. */
export interface Member {
  readonly memberId: string;
  readonly organization: string;
  /** `user:NAME`, for ever theirs. */
  readonly principal: string;
  /** As the identity provider says them: unchecked text. */
  readonly name: string;
  readonly email: string;
  readonly state: "active" | "suspended";
  readonly roles: readonly HeldRole[];
  readonly teams: readonly string[];
  readonly createdAt: Date;
  /** To within a minute. */
  readonly lastSeenAt?: Date;
}

/** What a group of the identity provider gives its members. */
export interface GroupMapping {
  readonly group: string;
  readonly kind: "role" | "team";
  /** The role, or the team's name. */
  readonly gives: string;
}

/** Which roles a member has, from wherever. */
export function rolesOf({ roles }: Pick<Member, "roles">): Role[] {
  return [...new Set(roles.map(({ role }) => role))];
}

const ADDRESS = /^[a-z0-9._%+-]{1,64}@[a-z0-9.-]{1,180}$/;

/**
 * How a new member is called: by their address where they have one that makes a name and nobody has had it before.
 * @param email that the identity provider vouches for, or empty
 */
export function principalFor(email: string, memberId: string, isTaken: boolean): string {
  const address = email.toLowerCase();
  if (!ADDRESS.test(address)) return `user:${memberId}`;
  return isTaken ? `user:${address}~${memberId.slice(0, 8)}` : `user:${address}`;
}
