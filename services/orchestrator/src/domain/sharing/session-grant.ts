import type { Principal } from "@hlvm/identity/principal";

/** Each contains the ones before it. */
export const SESSION_RIGHTS = ["view", "comment", "drive", "own"] as const;
export type SessionRight = (typeof SESSION_RIGHTS)[number];

/** With whom a session is shared; of everybody in the organization the subject is empty. */
export interface Grantee {
  readonly kind: "member" | "team" | "organization";
  /** `user:NAME`, or the name of a team. */
  readonly subject: string;
}

export interface SessionGrant extends Grantee {
  readonly right: SessionRight;
  readonly grantedBy: string;
  readonly grantedAt: Date;
  /** Undefined: until it is removed. */
  readonly until?: Date;
}

/** Which right some grants of one session give a person of its organization; undefined where none. */
export function rightOf(
  grants: readonly SessionGrant[],
  { id, teams = [] }: Pick<Principal, "id" | "teams">,
  at: Date,
): SessionRight | undefined {
  const theirs = grants.filter(
    ({ kind, subject, until }) =>
      (until === undefined || until > at) &&
      (kind === "organization" || (kind === "member" && subject === id) || (kind === "team" && teams.includes(subject))),
  );
  return SESSION_RIGHTS.findLast((right) => theirs.some((grant) => grant.right === right));
}

export function contains(right: SessionRight, wanted: SessionRight): boolean {
  return SESSION_RIGHTS.indexOf(right) >= SESSION_RIGHTS.indexOf(wanted);
}
