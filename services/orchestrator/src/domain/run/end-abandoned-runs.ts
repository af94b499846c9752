import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { eventPayload } from "../log/event-payload.ts";
import type { EventLog } from "../log/event-log.ts";
import type { SessionStore } from "../session/session-store.ts";
import { resumeAdvice } from "./resume-advice.ts";

/**
 * Ends runs whose holder is gone, so that nobody waits for them and the session can go on. What came of their last calls
 * is left to be reconciled.
 * @param newOwner makes a UUID for the claim
 * @returns how many
 */
export async function endAbandonedRuns(store: SessionStore, log: EventLog, newOwner: () => string): Promise<number> {
  const runs = await store.claimAbandoned(newOwner());
  for (const run of runs) {
    const { lease, stateless, principal, appended, turns, toolCalls } = run;
    const payload = eventPayload("runStopped", {
      reason: StopReason.ERROR,
      message: "Nobody held this run any more: the orchestrator that did has ended, or could not reach its database.",
      advice: `A tool that was running may or may not have taken effect. ${resumeAdvice({ sessionId: lease.sessionId, stateless })}`,
      turns,
      toolCalls,
    });
    await log.append({
      lease,
      principal,
      position: appended,
      events: [{ turn: turns, payload }],
      stopReason: StopReason.ERROR,
      isUnreconciled: true,
    });
  }
  return runs.length;
}
