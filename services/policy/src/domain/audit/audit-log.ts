import type { AuditEvent, AuditKind, OutcomeEvent, RecordedEvent } from "./audit-event.ts";
import type { DecidingStep, Decision } from "../decide/decision.ts";

export interface AuditFilter {
  readonly tool?: string;
  readonly principal?: string;
  readonly sessionId?: string;
  readonly decision?: Decision;
  readonly step?: DecidingStep;
  readonly since?: Date;
  /** Exclusive. */
  readonly until?: Date;
  /** Found in the arguments, rule, reason or outcome, whatever the case of its letters. */
  readonly text?: string;
  readonly kind: AuditKind;
  readonly limit: number;
  /** Only events older than this one. */
  readonly beforeId?: bigint;
}

/** The one decision that was recorded for a call. */
export interface RecordedIntent {
  readonly principal: string;
  readonly runId: string;
  readonly tool: string;
  readonly decision: Decision;
  readonly event: AuditEvent;
}

/** Where events are kept: they can be added and read, and nothing else. Every method throws where the store cannot be reached. */
export interface AuditLog {
  /** Commits the decision on a call; false where one, or a pending approval, is there already. */
  appendIntent(event: AuditEvent): Promise<boolean>;
  findIntent(organization: string, sessionId: string, callId: string): Promise<RecordedIntent | undefined>;
  /** Commits what came of an allowed call of this principal and run; undefined where there is none, or its outcome is there already. */
  appendOutcome(event: OutcomeEvent): Promise<bigint | undefined>;
  /** Newest first, of the reader's organization; an intent has its outcome joined to it. No reading without its event being committed. */
  read(filter: AuditFilter, reading: AuditEvent): Promise<RecordedEvent[]>;
}
