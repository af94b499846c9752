import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SessionGrant } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import type { Message, Model, ModelNeedsSchema, ToolDefinition } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { GenerateResponse } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { RestoredPath } from "@hlvm/proto/hlvm/sandbox/v1/runner_pb";
import type { ApprovalPreview, Verdict } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import type { ToolOutput, ToolResult, TrustFloor } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { DoorModels, ModelCallAudit } from "../door/door-models.ts";
import type { WorkspaceTrust } from "../instructions/workspace-trust.ts";

/** One use of a tool, ready to be decided on: its arguments in canonical form. */
export interface ToolCall {
  readonly sessionId: string;
  readonly runId: string;
  readonly callId: string;
  readonly tool: string;
  readonly argumentsJson: string;
  readonly definitionHash: string;
}

export interface ModelRequest {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  readonly maximumOutputTokens: number;
  readonly temperature?: number;
  /** The route that the model was resolved by: another one of it may answer in its place. */
  readonly route?: string;
  /** What that one has to have. */
  readonly fallbackNeeds?: MessageInitShape<typeof ModelNeedsSchema>;
  readonly sessionId: string;
  readonly runId: string;
}

export type ModelEvent = Exclude<GenerateResponse["event"], { case: undefined }>;

/** What a model is wanted for. */
export interface ModelTask {
  /** In a person's words, without secrets; empty where the model is named. */
  readonly task: string;
  readonly needs: MessageInitShape<typeof ModelNeedsSchema>;
}

export interface Models {
  /** @throws HlvmError which says why there is no such model, and what to do */
  resolve(model: string, signal: AbortSignal, wanted?: ModelTask): Promise<Model>;
  /** @throws ModelFailure */
  generate(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /**
   * What the provider counts of a request ahead, within two seconds; undefined where it does not count ahead.
   * @throws HlvmError
   */
  countTokens(request: Pick<ModelRequest, "model" | "messages" | "tools">, signal: AbortSignal): Promise<number | undefined>;
}

/** What policy is told of a call besides the call. */
export interface AttestedCall {
  /** The least that anything in the context can be trusted in which the model made the call. */
  readonly floor?: TrustFloor;
  /** The call that this one would make once more, of which nobody knows whether it took effect. */
  readonly repeats?: string;
  /** What came of earlier calls of the run, to be put on record together with the decision. */
  readonly ended?: readonly Outcome[];
}

export interface Decided {
  readonly verdict: Verdict;
  /** Of the ended calls of which the outcome is on record now. */
  readonly recordedCallIds: readonly string[];
}

/** What a call would change in the file that it writes, as that is now. */
export interface CallPreview {
  /** Empty where there is no file. */
  readonly presentSha256: string;
  readonly presentBytes: bigint;
  /** Empty where what changes is not told. */
  readonly diff: string;
}

/** A call that was made once, as policy is asked about it over again. */
export interface ImaginedCall extends Pick<ToolCall, "tool" | "argumentsJson"> {
  readonly trustFloor?: TrustFloor;
}

/** Every method throws HlvmError. */
export interface Policy {
  decide(call: ToolCall, attested: AttestedCall, signal: AbortSignal): Promise<Decided>;
  /** Waits a while for an answer: undefined where there is none yet. */
  awaitApproval(approvalId: string, signal: AbortSignal): Promise<Verdict | undefined>;
  /** What the rules say of calls that nobody makes, at most 100, in their order. */
  judge(calls: readonly ImaginedCall[], signal: AbortSignal): Promise<readonly Verdict[]>;
  /** Says what a call that waits for an answer would change. @returns by what an answer names it */
  attachPreview(approvalId: string, preview: CallPreview, signal: AbortSignal): Promise<ApprovalPreview | undefined>;
  /** Ends what the run still asks for: nobody can answer it any more. */
  withdrawApprovals(runId: string): Promise<void>;
}

export interface Outcome {
  readonly sessionId: string;
  readonly runId: string;
  readonly callId: string;
  readonly status: OutcomeStatus;
  /** One line. */
  readonly summary: string;
  readonly durationMilliseconds: number;
}

export interface Audit {
  recordOutcome(outcome: Outcome): Promise<void>;
}

export interface SharingAudit {
  /** Commits that a session is shared, or is not any more, before that counts. */
  recordSharing(grant: SessionGrant, removed: boolean): Promise<void>;
  /** Commits that whoever was offered a session takes it. @throws HlvmError `session_not_offered` */
  recordHandOver(): Promise<void>;
}

export interface BudgetAudit {
  /** Commits that a budget changes, before it does. @throws HlvmError `role_missing` */
  recordBudgetChange(changeJson: string, ofOwnSession: boolean): Promise<void>;
}

export interface OpenedWorkspace {
  /** Every symlink resolved. */
  readonly path: string;
  readonly gitRepository: boolean;
  readonly gitBranch: string;
}

export type ToolEvent =
  | { readonly output: ToolOutput }
  | { readonly result: ToolResult }
  /** For a sandbox: its place among those that wait. */
  | { readonly waiting: number };

export interface Rewind {
  readonly turns: readonly { readonly runId: string; readonly turn: number }[];
  readonly preview: boolean;
  readonly overwrite: boolean;
}

/** A copy of the workspace of a session for one to be. */
export interface WorkspaceCopy {
  readonly sessionId: string;
  readonly path: string;
  readonly newSessionId: string;
  /** It goes back to before the first of these. */
  readonly turns: Rewind["turns"];
}

export interface Rewound {
  /** The first of them. */
  readonly paths: readonly RestoredPath[];
  readonly pathCount: number;
  /** Of the first of the turns nothing is kept any more: it may have written what does not go back. */
  readonly incomplete: boolean;
}

/** A file with instructions, as the sandbox found it. */
export interface FoundInstruction {
  /** Relative to the workspace. */
  readonly path: string;
  readonly text: string;
  /** SHA-256, hex; empty where it was refused. */
  readonly sha256: string;
  /** Why it cannot be read as instructions; empty where it was. */
  readonly refusal: string;
}

export interface FoundInstructions {
  /** By this name a person trusts the workspace. */
  readonly workspace: string;
  readonly files: readonly FoundInstruction[];
  /** What tells the workspace's project from others; undefined where it was not looked for. */
  readonly identity?: WorkspaceIdentity;
}

export interface WorkspaceIdentity {
  readonly origin: string;
  readonly rootCommit: string;
  readonly madeId: string;
}

/** What became of a call, as the executor's receipt tells. */
export type Receipt = { readonly state: "never_started" | "running" | "unknown" } | { readonly state: "done"; readonly result: ToolResult };

/** Every method throws HlvmError. */
export interface Sandbox {
  openWorkspace(sessionId: string, path: string, signal: AbortSignal): Promise<OpenedWorkspace>;
  closeWorkspace(sessionId: string): Promise<void>;
  /** Output while the tool runs, its result last. Leaving the loop or aborting ends the tool. */
  execute(call: ToolCall, grant: string, timeoutMilliseconds: number, signal: AbortSignal): AsyncIterable<ToolEvent>;
  preview(call: ToolCall, signal: AbortSignal): Promise<CallPreview>;
  receipt(sessionId: string, callId: string): Promise<Receipt>;
  /** The files with instructions in folders of an open session's workspace; empty is the workspace itself. */
  readInstructions(sessionId: string, folders: readonly string[], signal: AbortSignal): Promise<FoundInstructions>;
  /** @returns where the copy is */
  copyWorkspace(copy: WorkspaceCopy, signal: AbortSignal): Promise<string>;
  /** Has the files of an open session go back to before the first of some turns. */
  rewind(sessionId: string, request: Rewind): Promise<Rewound>;
}

export interface Recalled {
  readonly facts: readonly string[];
  readonly moreExist: boolean;
  /** Why it is less than it should be; empty when it is not. */
  readonly notice: string;
}

/** A run, and what it is about. */
export interface AskedOfMemory {
  readonly sessionId: string;
  readonly runId: string;
  readonly workspace: string;
  readonly question: string;
}

/** Every method throws HlvmError. */
export interface Memory {
  /** From now on the run's project is what its workspace is. */
  registerProject(workspace: string, identity: WorkspaceIdentity, signal: AbortSignal): Promise<void>;
  recall(asked: AskedOfMemory, signal: AbortSignal): Promise<Recalled>;
  /** Has memory find out what the answer has of what was recalled. */
  recordAnswer(asked: AskedOfMemory, answer: string): Promise<void>;
  execute(call: ToolCall, grant: string, workspace: string, timeoutMilliseconds: number, signal: AbortSignal): Promise<ToolResult>;
}

/** The other services, called for one run, or for one call of a model door. */
export interface Mesh {
  readonly models: Models;
  readonly doorModels: DoorModels;
  readonly policy: Policy;
  readonly audit: Audit & BudgetAudit & SharingAudit & ModelCallAudit;
  readonly sandbox: Sandbox;
  readonly trust: WorkspaceTrust;
  readonly memory: Memory;
}
