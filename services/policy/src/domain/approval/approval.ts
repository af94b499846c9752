import type { approvalAnswerWords, approvalStateWords } from "@hlvm/proto/hlvm/policy/v1/policy_words";
import type { SafetyLevel, TrustTier } from "@hlvm/tools/tool-definition";
import type { DecidingStep, PermissionMode, PermissionSettings } from "../decide/decision.ts";

export type ApprovalAnswer = (typeof approvalAnswerWords)[number];
export type ApprovalState = (typeof approvalStateWords)[number];

/** Whether an action may be taken, whether a plan is to be carried out, or something that the model wants to know. */
export type ApprovalKind = "action" | "plan" | "question";

/** What waits, or waited, for a person's answer. */
export interface Approval {
  readonly approvalId: string;
  readonly organization: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly callId: string;
  readonly tool: string;
  readonly kind: ApprovalKind;
  /** Of a plan: under which it was made. */
  readonly settings?: PermissionSettings;
  readonly definitionHash: string;
  /** The canonical JSON that will run; empty once it ran or will not run, and an hour after the approval expired. */
  readonly argumentsJson: string;
  readonly argumentsHash: string;
  readonly safetyLevel: SafetyLevel;
  readonly trustTier: TrustTier;
  readonly mode: PermissionMode;
  /** What the answer "always for this session" would cover; see `CallJudgement`. */
  readonly scope: readonly string[];
  /** Which step asks, by which rule, and why. */
  readonly step: DecidingStep;
  readonly rule: string;
  readonly reason: string;
  readonly state: ApprovalState;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  readonly expiresAt: Date;
  readonly answer?: ApprovalAnswer;
  /** What was said to a question or a plan, or why an action was answered so. */
  readonly answerText?: string;
  /** Chosen by who answered; see `answerApproval`. */
  readonly answerKey?: string;
  /** Of a plan that was accepted. */
  readonly answerMode?: PermissionMode;
  readonly answerDelegation?: string;
  readonly answeredBy?: string;
  readonly answeredAt?: Date;
  readonly isUsed: boolean;
  /** Of a call that writes a file, as long as its arguments are kept. */
  readonly preview?: FilePreview;
}

/** What a call would change in the file that it writes, as the sandbox saw it when it was asked about. */
export interface FilePreview {
  /** Of the file as it was; empty where there was none. */
  readonly presentSha256: string;
  readonly presentBytes: number;
  /** The hunks of a unified diff; empty where that could not be told. */
  readonly diff: string;
}

type Later =
  | "state"
  | "requestedAt"
  | "expiresAt"
  | "answer"
  | "answerText"
  | "answerKey"
  | "answerMode"
  | "answerDelegation"
  | "answeredBy"
  | "answeredAt"
  | "isUsed"
  | "preview";

export type RequestedApproval = Omit<Approval, Later>;
