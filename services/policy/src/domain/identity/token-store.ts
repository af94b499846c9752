import type { AuditEvent } from "../audit/audit-event.ts";
import type { AccessToken } from "./access-token.ts";

export interface TokenOwner {
  readonly organization: string;
  readonly id: string;
}

/** The event that belongs to a change is committed with it. */
export interface TokenStore {
  /**
   * @param sha256 of the token, in hexadecimal
   * @param most tokens that an owner may have which are not over
   * @returns undefined where they have as many
   */
  create(token: Omit<AccessToken, "createdAt">, sha256: string, most: number, event: AuditEvent): Promise<AccessToken | undefined>;
  /** The newest first, without those that have been over for 30 days. */
  list(owner: TokenOwner): Promise<AccessToken[]>;
  listOfAccounts(organization: string): Promise<AccessToken[]>;
  /** @param ofAccounts also of service accounts @returns the token; undefined where it is not theirs to revoke. One that is revoked already stays as it is, without another event. */
  revoke(owner: TokenOwner, tokenId: string, ofAccounts: boolean, event: AuditEvent): Promise<AccessToken | undefined>;
  /** The one with this hash, used now; undefined where there is none, or it is over. */
  use(sha256: string): Promise<AccessToken | undefined>;
}
