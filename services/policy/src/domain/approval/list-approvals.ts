import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import { hasAuthority } from "../authority/authority.ts";
import type { Approval } from "./approval.ts";
import type { ApprovalFilter, ApprovalStore } from "./approval-store.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export interface AskedApprovals {
  readonly filter: Omit<ApprovalFilter, "ownedBy">;
  readonly size: number;
  /** As the page before gave it. */
  readonly pageToken?: string;
}

export interface ListedApprovals {
  readonly approvals: readonly Approval[];
  /** Undefined on the last page. */
  readonly nextPageToken?: string;
}

/** What waits for an answer: all of the organization for who may answer it; to others, what their own runs ask for. */
export async function listApprovals(store: ApprovalStore, principal: Principal, sessionId: string | undefined): Promise<Approval[]> {
  const mayAnswer = hasAuthority(principal, "answer_approvals");
  return store.pending(principal.organization, { sessionId, ...(mayAnswer ? {} : { requestedBy: principal.id }) });
}

/**
 * A page of those that fit, to the same people: what waits oldest first, else the newest first.
 * @throws HlvmError `page_token_unknown`
 */
export async function findApprovals(
  store: ApprovalStore,
  principal: Principal,
  { filter, size, pageToken }: AskedApprovals,
): Promise<ListedApprovals> {
  const { organization, id } = principal;
  const mayAnswer = hasAuthority(principal, "answer_approvals");
  if (pageToken !== undefined && (!UUID.test(pageToken) || (await store.find(organization, pageToken)) === undefined))
    throw pageTokenUnknown();
  const narrowed = mayAnswer ? filter : { ...filter, ownedBy: id };
  const newestFirst = filter.states.some((state) => state !== "pending");
  const { approvals, hasMore } = await store.page(organization, narrowed, { size, after: pageToken, newestFirst });
  const last = approvals.at(-1);
  return { approvals, ...(hasMore && last !== undefined ? { nextPageToken: last.approvalId } : {}) };
}

function pageTokenUnknown(): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "page_token_unknown",
    message: "The page token is none that this list gave.",
    advice: "Take it from the page before, or begin again without one.",
  });
}
