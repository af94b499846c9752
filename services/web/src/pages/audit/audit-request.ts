import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { permissionModeOf } from "@hlvm/ndjson/permission-mode";
import type { PermissionModeName } from "@hlvm/ndjson/permission-mode-name";
import { AuditKind, OutcomeStatus, type QueryRequestSchema, type WhoApprovedRequestSchema } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { DecidingStep, Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SafetyLevel } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { type AuditQuestion, WHOLE_LOG } from "./audit-question.ts";
import { parseTime } from "@hlvm/ndjson/parse-time";

/** A question in the contract's terms. */
export function requestOf(question: AuditQuestion): MessageInitShape<typeof QueryRequestSchema> {
  const { tool, principal, rule, session, run, call, text, path, host, mode, decision } = question;
  return {
    tool,
    principal,
    rule,
    text,
    path,
    host,
    sessionId: session,
    runId: run,
    callId: call,
    decision: valueOf(Decision, decision),
    step: valueOf(DecidingStep, question.step),
    outcome: valueOf(OutcomeStatus, question.outcome),
    safetyLevel: valueOf(SafetyLevel, question.level),
    mode: mode === undefined ? undefined : permissionModeOf(mode as PermissionModeName),
    // What was asked has a decision of its own once it is answered.
    kind: valueOf(AuditKind, question.kind) ?? (decision === "ask" ? AuditKind.APPROVAL_REQUESTED : AuditKind.UNSPECIFIED),
    ...timesOf(question),
  };
}

/** Of those fields only that calls which were let through can be narrowed by. */
export function approvedRequestOf(question: AuditQuestion): MessageInitShape<typeof WhoApprovedRequestSchema> {
  const { tool, principal, approver, session, call, path, text } = question;
  return { tool, principal, approver, sessionId: session, callId: call, path, text, ...timesOf(question) };
}

function timesOf({ since, until }: AuditQuestion) {
  const [from, to] = [since === WHOLE_LOG ? undefined : since, until].map((text) => text && parseTime(text, new Date()));
  return { since: from ? timestampFromDate(from) : undefined, until: to ? timestampFromDate(to) : undefined };
}

function valueOf<Values extends Readonly<Record<string, number | string>>>(
  values: Values,
  word: string | undefined,
): Values[keyof Values] | undefined {
  return word === undefined ? undefined : values[word.toUpperCase() as keyof Values];
}
