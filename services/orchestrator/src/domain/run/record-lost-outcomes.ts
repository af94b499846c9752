import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Audit, Sandbox } from "../loop/ports.ts";
import type { AbandonedRun } from "../session/session-store.ts";
import { callId } from "../tools/call-id.ts";

const NOT_KNOWN = "The orchestrator ended while this call was under way. It is not known whether it took effect.";

/**
 * Tells the audit log what came of the calls that were under way when the holder of their run ended: what the sandbox's
 * receipt says, else that it is not known. Of a call that was never allowed, or has its outcome, policy takes none.
 * @param events of the run's session
 */
export async function recordLostOutcomes(
  { lease }: AbandonedRun,
  events: readonly Event[],
  { audit, sandbox }: { readonly audit: Audit; readonly sandbox: Pick<Sandbox, "receipt"> },
): Promise<void> {
  const { sessionId, runId } = lease;
  for (const lost of callsWithoutEnd(runId, events)) {
    const receipt = await sandbox.receipt(sessionId, lost).catch(() => ({ state: "unknown" }) as const);
    const name = { sessionId, runId, callId: lost };
    const outcome =
      receipt.state === "done"
        ? {
            status: receipt.result.success ? OutcomeStatus.SUCCEEDED : OutcomeStatus.FAILED,
            summary: receipt.result.summary,
            durationMilliseconds: receipt.result.durationMilliseconds,
          }
        : { status: OutcomeStatus.FAILED, summary: NOT_KNOWN, durationMilliseconds: 0 };
    await audit.recordOutcome({ ...name, ...outcome }).catch(() => undefined);
  }
}

function callsWithoutEnd(runId: string, events: readonly Event[]): string[] {
  const open = new Set<string>();
  for (const { runId: of, turn, payload } of events) {
    if (of !== runId) continue;
    if (payload.case === "assistantMessage") payload.value.toolCalls.forEach((_, index) => open.add(callId(runId, turn, index + 1)));
    if (payload.case === "toolEnd") open.delete(payload.value.callId);
  }
  return [...open];
}
