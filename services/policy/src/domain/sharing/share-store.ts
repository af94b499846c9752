import type { AuditEvent } from "../audit/audit-event.ts";

export interface Share {
  readonly kind: "member" | "team" | "organization";
  /** `user:NAME`, the name of a team, or empty. */
  readonly subject: string;
  readonly right: "view" | "comment" | "drive" | "own";
  readonly until?: Date;
}

export interface SharedSession {
  readonly organization: string;
  readonly sessionId: string;
}

export interface FoundShares {
  /** Under whom the sandbox knows the workspace. */
  readonly workspaceOwner: string;
  /** Whose session it is: the same, until it is handed over. */
  readonly owner: string;
  readonly shares: readonly Pick<Share, "kind" | "subject" | "right">[];
}

/** With whom people shared their sessions, as they said it themselves. Each change is on record when it counts. */
export interface ShareStore {
  /** Takes the place of the owner's share with the same grantee. @returns the id of the record */
  put(session: SharedSession, owner: string, share: Share, event: AuditEvent): Promise<bigint>;
  /** Of whoever shared it. @returns the id of the record */
  remove(session: SharedSession, share: Pick<Share, "kind" | "subject">, event: AuditEvent): Promise<bigint>;
  /** Makes it theirs, and the former owner one who drives it. @returns the id of the record; undefined where it was not offered to them */
  take(session: SharedSession, newOwner: string, event: AuditEvent): Promise<bigint | undefined>;
  /** What counts now; undefined where the session was never shared and never handed over. */
  find(session: SharedSession): Promise<FoundShares | undefined>;
}
