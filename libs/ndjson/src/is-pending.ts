import { AuditKind, OutcomeStatus, type AuditEvent } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";

/** An allowed call that runs, or of which nobody has told what came of it yet. */
export function isPending({ kind, decision, outcome }: AuditEvent): boolean {
  return kind === AuditKind.INTENT && decision === Decision.ALLOW && outcome === OutcomeStatus.UNSPECIFIED;
}
