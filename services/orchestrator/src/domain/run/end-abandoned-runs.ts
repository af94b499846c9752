import { StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { eventPayload } from "../log/event-payload.ts";
import type { EventLog } from "../log/event-log.ts";
import type { AbandonedRun, SessionStore } from "../session/session-store.ts";
import { resumeAdvice } from "./resume-advice.ts";

/**
 * Ends runs whose holder is gone, so that nobody waits for them and the session can go on.
 * @param newOwner makes a UUID for the claim
 * @param reconcile is given each run, with the events of its session; nobody waits for it
 * @returns how many
 */
export async function endAbandonedRuns(
  store: SessionStore,
  log: EventLog,
  newOwner: () => string,
  reconcile: (run: AbandonedRun, events: readonly Event[]) => void,
): Promise<number> {
  const runs = await store.claimAbandoned(newOwner());
  for (const run of runs) {
    const { lease, stateless, principal, appended, turns, toolCalls } = run;
    reconcile(run, await log.readConversation(lease.sessionId));
    const payload = eventPayload("runStopped", {
      reason: StopReason.ERROR,
      message: "Nobody held this run any more: the orchestrator that did has ended, or could not reach its database.",
      advice: `A tool that was running may or may not have taken effect. ${resumeAdvice({ sessionId: lease.sessionId, stateless })}`,
      turns,
      toolCalls,
    });
    await log.append({ lease, principal, position: appended, events: [{ turn: turns, payload }], stopReason: StopReason.ERROR });
  }
  return runs.length;
}
