export const ROLES = ["developer", "approver", "admin", "security-auditor"] as const;
export type Role = (typeof ROLES)[number];

/** Who is asking: told by the edge in a signed token, never by a request's body. */
export interface Principal {
  readonly organization: string;
  /** `user:NAME`. */
  readonly id: string;
  readonly roles: readonly Role[];
  /** That they were in when they began a run, in whose delegation they stand; undefined where nobody asked. */
  readonly teams?: readonly string[];
}
