import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { permissionModeOf } from "@hlvm/ndjson/permission-mode";
import type { PermissionModeName } from "@hlvm/ndjson/permission-mode-name";
import { AuditKind, OutcomeStatus, type QueryRequestSchema } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { DecidingStep, Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SafetyLevel } from "@hlvm/proto/hlvm/tool/v1/tool_pb";

/** Which events of the audit log, as flags say it. */
export interface AuditFilterFlags {
  readonly kind?: string;
  readonly tool?: string;
  readonly principal?: string;
  readonly decision?: string;
  readonly step?: string;
  readonly rule?: string;
  readonly outcome?: string;
  readonly level?: string;
  readonly mode?: PermissionModeName;
  readonly session?: string;
  readonly run?: string;
  readonly call?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly text?: string;
  readonly path?: string;
  readonly host?: string;
}

export function auditQueryOf(flags: AuditFilterFlags): MessageInitShape<typeof QueryRequestSchema> {
  const { tool, principal, rule, session, run, call, since, until, text, path, host, mode } = flags;
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
    decision: enumValue(Decision, flags.decision),
    step: enumValue(DecidingStep, flags.step),
    outcome: enumValue(OutcomeStatus, flags.outcome),
    safetyLevel: enumValue(SafetyLevel, flags.level),
    mode: mode && permissionModeOf(mode),
    since: since && timestampFromDate(since),
    until: until && timestampFromDate(until),
    // What was asked has a decision of its own once it is answered.
    kind: enumValue(AuditKind, flags.kind) ?? (flags.decision === "ask" ? AuditKind.APPROVAL_REQUESTED : AuditKind.UNSPECIFIED),
  };
}

function enumValue<T extends Readonly<Record<string, number>>>(values: T, word: string | undefined): T[keyof T] | undefined {
  return word === undefined ? undefined : values[word.toUpperCase() as keyof T];
}
