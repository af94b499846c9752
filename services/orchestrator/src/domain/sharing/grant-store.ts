import type { Grantee, SessionGrant } from "./session-grant.ts";

/** With whom sessions are shared. */
export interface GrantStore {
  /** Those that count now, the oldest first. */
  list(sessionId: string): Promise<SessionGrant[]>;
  /** Takes the place of the one to the same grantee. */
  put(organization: string, sessionId: string, grant: Omit<SessionGrant, "grantedAt">): Promise<SessionGrant>;
  /** @returns whether there was one */
  remove(sessionId: string, grantee: Grantee): Promise<boolean>;
  /** Makes the session theirs, with its workers', and the former owner one who drives it. */
  take(sessionId: string, formerOwner: string, newOwner: string): Promise<void>;
}

/** In which teams somebody is now. */
export interface Teams {
  of(organization: string, principalId: string): Promise<readonly string[]>;
}
