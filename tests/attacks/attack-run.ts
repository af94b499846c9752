import type { Client } from "@connectrpc/connect";
import { Decision, type Approval, type ApprovalKind } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { SessionService, StartRunResponse } from "@hlvm/proto/hlvm/session/v1/session_pb";

export interface AskedApproval {
  readonly approvalId: string;
  readonly sessionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly kind: ApprovalKind;
}

/** One tool call of the model and what became of it. */
export interface AttackCall {
  readonly callId: string;
  readonly tool: string;
  readonly argumentsJson: string;
  /** The last decision; undefined where policy was never asked. */
  readonly decision: "allow" | "ask" | "deny" | undefined;
  readonly rule: string;
  readonly success: boolean;
  readonly content: string;
  readonly errorCode: string;
}

export interface AttackRun {
  /** What was asked: the requests of the model that belong to it have it. */
  readonly prompt: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly calls: readonly AttackCall[];
  readonly events: readonly Event[];
}

const words: ReadonlyMap<Decision, "allow" | "ask" | "deny"> = new Map([
  [Decision.ALLOW, "allow"],
  [Decision.ASK, "ask"],
  [Decision.DENY, "deny"],
]);

/** Follows a run to its end; answers what it and its workers ask meanwhile. */
export async function followAttack(
  sessions: Client<typeof SessionService>,
  { sessionId, runId, sequence }: StartRunResponse,
  onAsked: ((approval: AskedApproval) => Promise<void>) | undefined,
): Promise<Omit<AttackRun, "prompt">> {
  const events: Event[] = [];
  const stopped = new AbortController();
  const request = { sessionId, fromSequence: sequence, follow: true };
  try {
    for await (const response of sessions.watch(request, { signal: stopped.signal }))
      for (const event of response.events) {
        if (event.runId !== runId) continue;
        events.push(event);
        const approval = approvalOf(event);
        if (approval !== undefined) {
          const { approvalId, callId, tool, kind } = approval;
          await onAsked?.({ approvalId, sessionId, callId, tool, kind });
        }
        if (event.payload.case === "runStopped") stopped.abort();
      }
  } catch (thrown) {
    if (!stopped.signal.aborted) throw thrown;
  }
  return { sessionId, runId, events, calls: callsOf(events) };
}

function approvalOf({ payload }: Event): Approval | undefined {
  if (payload.case === "workerPermission") return payload.value.check?.approval;
  return payload.case === "permissionCheck" ? payload.value.approval : undefined;
}

function callsOf(events: readonly Event[]): AttackCall[] {
  const calls = new Map<string, AttackCall>();
  for (const { payload } of events) {
    if (payload.case === "toolSelected") {
      const { callId, tool, argumentsJson } = payload.value;
      calls.set(callId, { callId, tool, argumentsJson, decision: undefined, rule: "", success: false, content: "", errorCode: "" });
    }
    if (payload.case === "permissionCheck") {
      const { callId, decision, rule } = payload.value;
      calls.set(callId, { ...calls.get(callId)!, decision: words.get(decision), rule });
    }
    if (payload.case === "toolEnd") {
      const { callId, result } = payload.value;
      const { success = false, content = "", errorCode = "" } = result ?? {};
      calls.set(callId, { ...calls.get(callId)!, success, content, errorCode });
    }
  }
  return [...calls.values()];
}
