import type { OutcomeEvent } from "./audit-event.ts";

/** Longer than a delegation counts: until then the run, or whoever takes it up, may still say what came of its calls. */
const OPEN_MILLISECONDS = 25 * 60 * 60 * 1_000;

/** An allowed call whose outcome nobody has told. */
export type OpenCall = Pick<OutcomeEvent, "organization" | "principal" | "sessionId" | "runId" | "callId">;

export interface OpenCalls {
  /**
   * Records an outcome for each open call among the next events, in their order, that are older than a time.
   * @returns how many got one, and whether there may be more to look at
   */
  closeNext(before: Date, outcomeOf: (call: OpenCall) => OutcomeEvent): Promise<{ readonly closed: number; readonly hasMore: boolean }>;
}

/**
 * Closes the calls that nobody can tell the outcome of any more: it stays unknown. This takes no caller and no token, so that
 * no intent stays open for ever because the right to act for its run has expired, or its run is known to nobody.
 * @returns how many
 */
export async function closeOpenCalls(calls: OpenCalls, now = new Date()): Promise<number> {
  const before = new Date(now.getTime() - OPEN_MILLISECONDS);
  for (let total = 0; ;) {
    const { closed, hasMore } = await calls.closeNext(before, unknownOutcome);
    total += closed;
    if (!hasMore) return total;
  }
}

function unknownOutcome({ organization, principal, sessionId, runId, callId }: OpenCall): OutcomeEvent {
  return {
    kind: "outcome",
    at: new Date().toISOString(),
    organization,
    principal,
    sessionId,
    runId,
    callId,
    outcome: "unknown",
    summary: "Nobody told what came of this call while its run could be acted for. It may or may not have taken effect.",
  };
}
