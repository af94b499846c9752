import type { AuditEvent } from "../audit/audit-event.ts";
import type { SessionAllowance } from "../decide/question.ts";
import type { SafetyLevel } from "@hlvm/tools/tool-definition";
import type { Approval, FilePreview, ApprovalAnswer, ApprovalState, RequestedApproval } from "./approval.ts";
import type { PersonAnswer } from "./person-answer.ts";

/** Hears of changes to one approval until it is disposed of. */
export interface ApprovalWatch extends Disposable {
  /** Comes back when the approval may have changed, at the latest after so many milliseconds; throws when the signal aborts. */
  change(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export interface UntakenAnswer {
  readonly approvalId: string;
  readonly runId: string;
}

/** What is left out takes all. */
export interface PendingFilter {
  readonly sessionId?: string;
  readonly runId?: string;
  readonly requestedBy?: string;
}

/** What is left out takes all. */
export interface ApprovalFilter {
  readonly sessionId?: string;
  readonly states: readonly ApprovalState[];
  readonly tool?: string;
  readonly safetyLevel?: SafetyLevel;
  readonly requestedBy?: string;
  /** Who looks, where they see nothing but their own. */
  readonly ownedBy?: string;
  readonly answeredBy?: string;
  readonly since?: Date;
  /** Exclusive. */
  readonly before?: Date;
}

export interface AskedPage {
  readonly size: number;
  /** The last approval of the page before. */
  readonly after?: string;
  readonly newestFirst: boolean;
}

export interface ApprovalPage {
  readonly approvals: readonly Approval[];
  readonly hasMore: boolean;
}

/** What an answer holds besides the event that records it. */
export interface KeptAnswer extends PersonAnswer {
  readonly answer: ApprovalAnswer;
  readonly idempotencyKey?: string;
}

/** Where approvals are kept. Whatever changes one records the event in the same commit. Methods throw where it cannot be reached. */
export interface ApprovalStore {
  /** Undefined where the call has an approval or a decision already. */
  request(approval: RequestedApproval, lifetimeSeconds: number, event: AuditEvent): Promise<Approval | undefined>;
  find(organization: string, approvalId: string): Promise<Approval | undefined>;
  /** Keeps a preview with an approval that waits and has none yet. @returns the approval as it is then; undefined where there is none */
  attachPreview(organization: string, approvalId: string, preview: FilePreview): Promise<Approval | undefined>;
  findByCall(organization: string, sessionId: string, callId: string): Promise<Approval | undefined>;
  /** Pending ones, oldest first, at most 200, which every session has its share of. */
  pending(organization: string, filter: PendingFilter): Promise<Approval[]>;
  /** In the order in which they were asked. As many as fit a page and 4 MB of arguments, one at least. */
  page(organization: string, filter: ApprovalFilter, asked: AskedPage): Promise<ApprovalPage>;
  /** Undefined where it is no longer pending. */
  answer(organization: string, approvalId: string, given: KeptAnswer, event: AuditEvent): Promise<Approval | undefined>;
  /** Ends it unanswered; false where it is no longer pending. */
  withdraw(organization: string, approvalId: string, event: AuditEvent): Promise<boolean>;
  /**
   * Takes the answer, and commits the decision with it; false where it was taken before, or the call was decided otherwise: then it
   * is spent. The arguments go, but for a call that is allowed with it: its outcome takes them, or an hour after it expired.
   */
  use(organization: string, approvalId: string, event: AuditEvent): Promise<boolean>;
  /** "Always for this session", as it was answered for this tool. */
  allowances(organization: string, sessionId: string, tool: string): Promise<SessionAllowance[]>;
  watch(approvalId: string): ApprovalWatch;
  /** Of every organization: answers that no run has taken of the last so many seconds, and all of the last minute; at most 10,000. */
  untaken(seconds: number): Promise<UntakenAnswer[]>;
  /** Hears of changes to any approval. */
  watchAll(): ApprovalWatch;
}
