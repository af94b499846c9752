import type { SafetyLevel, TrustTier } from "@hlvm/tools/tool-definition";
import type { DecidingStep, Decision, PermissionMode } from "../decide/decision.ts";

/** `grant_renewed` and `renewal_denied`: what a call that was allowed before got when it was asked for again. */
export type AuditKind =
  | "intent"
  | "outcome"
  | "approval_requested"
  | "approval_answered"
  | "approval_withdrawn"
  | "audit_read"
  | "grant_renewed"
  | "renewal_denied"
  | "budget_changed";
export type OutcomeStatus = "succeeded" | "failed" | "timed_out" | "cancelled" | "refused" | "unknown";

/** One thing that happened, as it is recorded: what does not apply is left out. */
export interface AuditEvent {
  readonly kind: AuditKind;
  /** ISO 8601 in UTC, to the millisecond. */
  readonly at: string;
  readonly organization: string;
  readonly principal: string;
  readonly sessionId?: string;
  readonly runId?: string;
  readonly callId?: string;
  readonly tool?: string;
  /** Canonical JSON, secrets replaced and long texts cut. */
  readonly arguments?: string;
  /** Of the canonical JSON that would run, nothing replaced: hex SHA-256. */
  readonly argumentsHash?: string;
  /** Of the tool's definition, as the caller named it. */
  readonly definitionHash?: string;
  readonly decision?: Decision;
  readonly step?: DecidingStep;
  readonly rule?: string;
  readonly reason?: string;
  readonly mode?: PermissionMode;
  readonly safetyLevel?: SafetyLevel;
  readonly trustTier?: TrustTier;
  readonly outcome?: OutcomeStatus;
  readonly summary?: string;
  readonly durationMilliseconds?: number;
  readonly approvalId?: string;
  readonly policyVersion?: string;
  readonly traceId?: string;
  /** What an audit_read asked for, in words. */
  readonly query?: string;
}

export interface RecordedEvent extends AuditEvent {
  /** Ascending in the order of recording. */
  readonly id: bigint;
}

export type OutcomeEvent = AuditEvent & {
  readonly kind: "outcome";
  readonly sessionId: string;
  readonly runId: string;
  readonly callId: string;
};
