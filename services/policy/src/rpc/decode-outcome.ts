import type { RecordOutcomeRequest } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { Outcome } from "../domain/audit/outcome-event.ts";
import { refuseControlCharacters } from "./refuse-control-characters.ts";
import { outcomes, wordOf } from "./words.ts";

/** @throws HlvmError where the call's id holds control characters */
export function decodeOutcome({ sessionId, runId, callId, status, summary, durationMilliseconds }: RecordOutcomeRequest): Outcome {
  refuseControlCharacters({ call_id: callId });
  return { sessionId, runId, callId, status: wordOf(outcomes, status) ?? "failed", summary, durationMilliseconds };
}
