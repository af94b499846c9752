import type { Principal, Role } from "@hlvm/identity/principal";
import type { ListCacheBreaksResponse, UsageDimension, UsageRow } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import type { EarlierCall } from "./prefix-ledger.ts";

export interface UsageQuestion {
  readonly organization: string;
  /** Only what this person's runs used; undefined: everybody's. */
  readonly principal?: string;
  /** Each once, in the order of the keys of a row. */
  readonly by: readonly UsageDimension[];
  readonly since?: Date;
  /** Exclusive. */
  readonly until?: Date;
}

export interface BreaksQuestion extends Omit<UsageQuestion, "by"> {
  /** Of this session alone. */
  readonly sessionId?: string;
}

export type CacheBreaks = Pick<ListCacheBreaksResponse, "breaks" | "sums" | "calls" | "brokenCalls">;

/** What settled calls used and cost. */
export interface UsageLog {
  /** The dearest first, days in their order; the first 10,000. */
  query(question: UsageQuestion): Promise<UsageRow[]>;
  /** Calls that paid anew for what the call before had sent: the latest 1,000, and sums of all. */
  breaks(question: BreaksQuestion): Promise<CacheBreaks>;
  /** The last call of a session's conversation whose prefix is on record. */
  lastCall(sessionId: string): Promise<EarlierCall | undefined>;
}

/** As for the audit log. */
const MAY_SEE_ALL: ReadonlySet<Role> = new Set(["security-auditor", "admin"]);

/** Whether somebody may see what others spend. The roles are those of the token of this very call. */
export function maySeeSpendingOfAll({ roles }: Principal): boolean {
  return roles.some((role) => MAY_SEE_ALL.has(role));
}
