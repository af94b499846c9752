import type { SafetyLevel } from "@hlvm/tools/tool-definition";
import type { AuditEvent, AuditKind, OutcomeEvent, OutcomeStatus, RecordedEvent } from "./audit-event.ts";
import type { DecidingStep, Decision, PermissionMode } from "../decide/decision.ts";

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
  /** Named by the arguments, itself or something below it. */
  readonly path?: string;
  /** Named by the arguments, itself or one below it. */
  readonly host?: string;
  readonly runId?: string;
  readonly callId?: string;
  /** Of the call itself, or of the call that an intent is about. */
  readonly outcome?: OutcomeStatus;
  readonly safetyLevel?: SafetyLevel;
  readonly mode?: PermissionMode;
  /** How the rule begins. */
  readonly rule?: string;
  /** Who answered the approval of this very call. */
  readonly approver?: string;
  readonly kind: AuditKind;
  readonly limit: number;
  /** Only events older than this one. */
  readonly beforeId?: bigint;
}

/** A call that was let through. */
export interface ApprovedCall {
  /** With its outcome joined to it. */
  readonly call: RecordedEvent;
  /** What a person answered to this very call. */
  readonly answer?: RecordedEvent;
}

/** What is on record about one call. */
export interface RecordedCall {
  /** The one decision on it. */
  readonly intent: AuditEvent;
  /** The rules denied a renewal of its grant. */
  readonly denial?: AuditEvent;
  readonly hasOutcome: boolean;
}

export interface AppendedIntent {
  /** False where a decision on the call, or a pending approval, is there already. */
  readonly isAppended: boolean;
  /** Of the calls whose outcomes were committed. */
  readonly recordedCallIds: readonly string[];
}

/** Where events are kept: they can be added and read, and nothing else. Every method throws where the store cannot be reached. */
export interface AuditLog {
  /** Commits the decision on a call, and with it what came of earlier ones, as `appendOutcome` does. */
  appendIntent(event: AuditEvent, ended: readonly OutcomeEvent[]): Promise<AppendedIntent>;
  /** Undefined where no decision on it is recorded. */
  findCall(organization: string, sessionId: string, callId: string): Promise<RecordedCall | undefined>;
  /**
   * Commits that the grant of an allowed call is given again, or that it is denied by now. False where the call is not the one that
   * was allowed, has its outcome or such a denial, or its grant was renewed as often as may be.
   */
  appendRenewal(event: AuditEvent): Promise<boolean>;
  /**
   * Commits what came of an allowed call of this principal and run, and forgets the arguments that its approval kept; undefined
   * where there is no such call, or its outcome is there already.
   */
  appendOutcome(event: OutcomeEvent): Promise<bigint | undefined>;
  /** Commits that a budget changes. */
  appendChange(event: AuditEvent): Promise<bigint>;
  /** The same of calls that were let through, each with what a person answered to it. */
  readApproved(filter: AuditFilter, reading: AuditEvent): Promise<ApprovedCall[]>;
  /** Newest first, of the reader's organization; an intent has its outcome joined to it. No reading without its event being committed. */
  read(filter: AuditFilter, reading: AuditEvent): Promise<RecordedEvent[]>;
}
