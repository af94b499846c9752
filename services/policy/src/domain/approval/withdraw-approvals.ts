import type { Principal } from "@hlvm/identity/principal";
import type { ApprovalStore } from "./approval-store.ts";

/**
 * Ends what a run still waits for, because the run itself is over. Only for who asked: of another person's run nothing is
 * found. It takes no role, since it gives nobody anything.
 * @returns the ids of what it ended; what was answered first stays answered
 */
export async function withdrawApprovals(store: ApprovalStore, principal: Principal, traceId: string, runId: string): Promise<string[]> {
  const { organization, id } = principal;
  const withdrawn: string[] = [];
  // A page at a time: whatever is still pending of it is withdrawn, so the next one holds others.
  for (;;) {
    const page = await store.pending(organization, { requestedBy: id, runId });
    if (page.length === 0) return withdrawn;
    for (const { approvalId, sessionId, callId, tool, argumentsHash, safetyLevel, trustTier } of page) {
      const isWithdrawn = await store.withdraw(organization, approvalId, {
        kind: "approval_withdrawn",
        at: new Date().toISOString(),
        organization,
        principal: id,
        sessionId,
        runId,
        callId,
        tool,
        argumentsHash,
        decision: "deny",
        step: "approval",
        rule: "approval: withdrawn",
        reason: "The run that asked for it ended before anybody answered.",
        safetyLevel,
        trustTier,
        approvalId,
        traceId,
      });
      if (isWithdrawn) withdrawn.push(approvalId);
    }
  }
}
