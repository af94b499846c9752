import type { Principal } from "@hlvm/identity/principal";
import type { OutcomeEvent, OutcomeStatus } from "./audit-event.ts";
import { redactText } from "./redact-text.ts";

export interface Outcome {
  readonly sessionId: string;
  readonly runId: string;
  readonly callId: string;
  readonly status: OutcomeStatus;
  readonly summary: string;
  readonly durationMilliseconds: number;
}

/** The event of what came of a call, now. */
export function outcomeEvent(principal: Principal, traceId: string, { status, summary, ...rest }: Outcome): OutcomeEvent {
  return {
    kind: "outcome",
    at: new Date().toISOString(),
    organization: principal.organization,
    principal: principal.id,
    ...rest,
    outcome: status,
    summary: redactText(summary),
    traceId,
  };
}
