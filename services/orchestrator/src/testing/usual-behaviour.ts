import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { RecordOutcomeRequest } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type {
  ExecuteToolRequest,
  RecallResponseSchema,
  RegisterProjectRequest,
  RegisterProjectResponseSchema,
} from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import type {
  ClaimModelWorkResponseSchema,
  PutModelWorkRequest,
  PutModelWorkResponseSchema,
} from "@hlvm/proto/hlvm/memory/v1/model_work_pb";
import type {
  CountTokensRequest,
  GenerateRequest,
  GenerateResponseSchema,
  ResolveModelResponseSchema,
} from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { SessionGrant } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import { ModelCapability, ModelTier } from "@hlvm/proto/hlvm/model/v1/model_pb";
import {
  DecidingStep,
  Decision,
  type ApprovalPreviewSchema,
  type AttachPreviewRequest,
  type DecideRequest,
  type JudgeCallsRequest_One,
  type VerdictSchema,
} from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import {
  GetReceiptResponse_State,
  type CopyWorkspaceRequest,
  type ExecuteRequest,
  type ExecuteResponseSchema,
  type GetReceiptResponseSchema,
  type PreviewCallRequest,
  type PreviewCallResponseSchema,
  type ReadInstructionsRequest,
  type ReadInstructionsResponseSchema,
  type RewindWorkspaceRequest,
  type RewindWorkspaceResponseSchema,
} from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import type { ToolResultSchema } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { TrustState, type TrustedFile } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import { refuse } from "./refuse.ts";

export type Deltas = AsyncIterable<MessageInitShape<typeof GenerateResponseSchema>>;
type Verdict = MessageInitShape<typeof VerdictSchema>;
type ToolEvents = AsyncIterable<MessageInitShape<typeof ExecuteResponseSchema>>;

/** What the other services do in a test: each can be replaced by the test. */
export interface Behaviour {
  model: MessageInitShape<typeof ResolveModelResponseSchema>["model"];
  generate: (request: GenerateRequest, call: number, context: HandlerContext) => Deltas;
  countTokens: (request: CountTokensRequest) => Promise<number | undefined> | number | undefined;
  decide: (request: DecideRequest) => Promise<Verdict> | Verdict;
  /** In which somebody is, as policy says. */
  teams: (principal: string) => string[];
  /** Throws where it cannot be recorded. */
  recordSharing: (grant: SessionGrant, removed: boolean) => void;
  recordHandOver: () => void;
  /** What policy signed for the workspace of this session; empty where it is not shared. */
  grantWorkspace: (sessionId: string) => string;
  /** Of a call that waits for an answer. */
  attachPreview: (request: AttachPreviewRequest) => MessageInitShape<typeof ApprovalPreviewSchema>;
  previewCall: (request: PreviewCallRequest) => MessageInitShape<typeof PreviewCallResponseSchema>;
  /** Of the calls of a replay. */
  judge: (call: JudgeCallsRequest_One) => Verdict;
  awaitApproval: (approvalId: string, context: HandlerContext) => Promise<Verdict>;
  execute: (request: ExecuteRequest, context: HandlerContext) => ToolEvents;
  openWorkspace: (path: string, sessionId: string) => { path: string; gitRepository: boolean; gitBranch: string };
  receipt: (callId: string) => MessageInitShape<typeof GetReceiptResponseSchema>;
  copyWorkspace: (request: CopyWorkspaceRequest) => string;
  rewind: (request: RewindWorkspaceRequest) => MessageInitShape<typeof RewindWorkspaceResponseSchema>;
  readInstructions: (request: ReadInstructionsRequest) => MessageInitShape<typeof ReadInstructionsResponseSchema>;
  checkTrust: (file: TrustedFile, workspace: string) => TrustState;
  recordOutcome: (request: RecordOutcomeRequest) => Promise<void> | void;
  /** Throws where policy does not let the budget change. */
  recordBudgetChange: (changeJson: string, ofOwnSession: boolean) => void;
  registerProject: (request: RegisterProjectRequest) => MessageInitShape<typeof RegisterProjectResponseSchema>;
  recall: (query: string) => Promise<MessageInitShape<typeof RecallResponseSchema>> | MessageInitShape<typeof RecallResponseSchema>;
  /** Called when a process begins to watch for answers; throws where policy does not tell of them. */
  onWatchAnswers: () => void;
  executeMemory: (request: ExecuteToolRequest) => MessageInitShape<typeof ToolResultSchema>;
  /** What waits for a model. */
  claimWork: (principal: string) => MessageInitShape<typeof ClaimModelWorkResponseSchema>;
  putWork: (request: PutModelWorkRequest) => MessageInitShape<typeof PutModelWorkResponseSchema>;
}

/** A model with nothing to say, a policy that allows everything and trusts nothing, and tools that succeed. */
export const usualBehaviour: Readonly<Behaviour> = {
  model: {
    id: "test/model",
    provider: "test",
    name: "model",
    tier: ModelTier.FRONTIER,
    capability: ModelCapability.AGENT,
    contextWindow: 200_000,
    available: true,
  },
  generate: () => refuse(new Error("the test gave the model nothing to say")),
  countTokens: () => undefined,
  teams: () => [],
  recordSharing: () => undefined,
  recordHandOver: () => undefined,
  grantWorkspace: (sessionId) => `grant for ${sessionId}`,
  attachPreview: ({ presentSha256 }) => ({ hash: presentSha256, present: true }),
  previewCall: () => ({ presentSha256: "ab".repeat(32), diff: "@@ -1,1 +1,1 @@" }),
  judge: () => ({ decision: Decision.ALLOW, step: DecidingStep.READ_ONLY, rule: "L0", reason: "It only reads." }),
  decide: (request) => ({
    decision: Decision.ALLOW,
    step: DecidingStep.READ_ONLY,
    rule: "L0",
    reason: "It only reads.",
    grant: `grant for ${request.call?.callId}`,
  }),
  awaitApproval: () => Promise.reject(new Error("nobody asked")),
  execute: async function* ({ call }) {
    yield { event: { case: "result", value: { success: true, content: `result of ${call?.argumentsJson}`, summary: "done" } } };
  },
  openWorkspace: (path) => ({ path, gitRepository: true, gitBranch: "main" }),
  receipt: () => ({ state: GetReceiptResponse_State.NEVER_STARTED }),
  copyWorkspace: ({ newSessionId }) => `/copies/${newSessionId}`,
  rewind: () => ({ paths: [] }),
  readInstructions: () => ({ workspace: "/work", identity: { madeId: "0".repeat(32) } }),
  checkTrust: () => TrustState.UNTRUSTED,
  recordOutcome: () => undefined,
  recordBudgetChange: () => undefined,
  registerProject: () => ({ project: { projectId: "project-of-work" } }),
  recall: () => ({ facts: [] }),
  onWatchAnswers: () => undefined,
  executeMemory: () => ({ success: true, content: "remembered", summary: "remembered" }),
  claimWork: () => ({}),
  putWork: () => ({ isStored: true }),
};
