import { timestampDate } from "@bufbuild/protobuf/wkt";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { QueryRequest } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { AuditFilter } from "../domain/audit/audit-log.ts";
import { refuseControlCharacters } from "./refuse-control-characters.ts";
import { decisions, kinds, levels, modes, outcomes, steps, wordOf } from "./words.ts";

export const DEFAULT_AUDIT_LIMIT = 100;

/**
 * Which events are asked for: what is left out in the request asks for all, and no kind for the decisions.
 * @throws HlvmError `control_character`, `unknown_value`, `time_reversed`
 */
export function decodeAuditFilter(request: QueryRequest): AuditFilter {
  const { tool, principal, text, path, rule, callId } = request;
  refuseControlCharacters({ tool, principal, text, path, rule, call_id: callId });
  const since = request.since && timestampDate(request.since);
  const until = request.until && timestampDate(request.until);
  if (since !== undefined && until !== undefined && since > until) throw reversed(since, until);
  return {
    tool: tool || undefined,
    principal: principal || undefined,
    sessionId: request.sessionId || undefined,
    runId: request.runId || undefined,
    callId: callId || undefined,
    decision: wordOf(decisions, request.decision),
    step: wordOf(steps, request.step),
    outcome: wordOf(outcomes, request.outcome),
    safetyLevel: wordOf(levels, request.safetyLevel),
    mode: wordOf(modes, request.mode),
    rule: rule || undefined,
    since,
    until,
    text: text || undefined,
    path: path || undefined,
    host: request.host || undefined,
    kind: wordOf(kinds, request.kind) ?? "intent",
    limit: request.limit || DEFAULT_AUDIT_LIMIT,
    beforeId: request.beforeId || undefined,
  };
}

function reversed(since: Date, until: Date): HlvmError {
  return new HlvmError({
    code: "invalid_argument",
    reason: "time_reversed",
    message: `Nothing is after ${since.toISOString()} and before ${until.toISOString()}.`,
    advice: "Give a since that is before until.",
  });
}
