import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { TokenVerifier } from "@hlvm/identity/token-verifier";
import type { Log } from "@hlvm/log/create-log";
import type { GenerateRequest, GenerateResponseSchema, ResolveModelResponseSchema } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { ModelCapability, ModelService, ModelTier } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { AuditService, type RecordOutcomeRequest } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { MemoryService, type RecallResponseSchema, type ExecuteToolRequest } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { DecidingStep, Decision, PolicyService, type DecideRequest, type VerdictSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import {
  GetReceiptResponse_State,
  SandboxService,
  type ExecuteRequest,
  type ExecuteResponseSchema,
  type GetReceiptResponseSchema,
} from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import type { ToolResultSchema } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";

export type Deltas = AsyncIterable<MessageInitShape<typeof GenerateResponseSchema>>;
type Verdict = MessageInitShape<typeof VerdictSchema>;
type ToolEvents = AsyncIterable<MessageInitShape<typeof ExecuteResponseSchema>>;

/** A stream that ends with an error before it says anything. */
export function refuse(error: Error): AsyncIterable<never> {
  const next = async (): Promise<never> => {
    throw error;
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

/** What the other services do in a test: each can be replaced by the test. */
export interface Behaviour {
  model: MessageInitShape<typeof ResolveModelResponseSchema>["model"];
  generate: (request: GenerateRequest, call: number, context: HandlerContext) => Deltas;
  decide: (request: DecideRequest) => Promise<Verdict> | Verdict;
  awaitApproval: (approvalId: string, context: HandlerContext) => Promise<Verdict>;
  execute: (request: ExecuteRequest, context: HandlerContext) => ToolEvents;
  openWorkspace: (path: string, sessionId: string) => { path: string; gitRepository: boolean; gitBranch: string };
  receipt: (callId: string) => MessageInitShape<typeof GetReceiptResponseSchema>;
  recordOutcome: (request: RecordOutcomeRequest) => Promise<void> | void;
  recall: (query: string) => Promise<MessageInitShape<typeof RecallResponseSchema>> | MessageInitShape<typeof RecallResponseSchema>;
  executeMemory: (request: ExecuteToolRequest) => MessageInitShape<typeof ToolResultSchema>;
}

/** What reached the other services, in order. */
export interface Seen {
  readonly requests: GenerateRequest[];
  readonly decided: DecideRequest[];
  readonly executed: ExecuteRequest[];
  readonly outcomes: RecordOutcomeRequest[];
  /** Runs whose approvals were withdrawn. */
  readonly withdrawn: string[];
  readonly opened: string[];
  readonly closed: string[];
  readonly principals: Set<string>;
  /** Method → the trace ids of its calls. */
  readonly traces: Map<string, Set<string>>;
}

export interface FakeServices {
  readonly url: string;
  readonly behaviour: Behaviour;
  readonly seen: Seen;
  /** The folder to which the sandbox has bound each session; to forget them all is to start the sandbox anew. */
  readonly bound: Map<string, string>;
  readonly close: () => Promise<void>;
}

export const allow = (request: DecideRequest): Verdict => ({
  decision: Decision.ALLOW,
  step: DecidingStep.READ_ONLY,
  rule: "L0",
  reason: "It only reads.",
  grant: `grant for ${request.call?.callId}`,
});

function usualBehaviour(): Behaviour {
  return {
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
    decide: allow,
    awaitApproval: () => Promise.reject(new Error("nobody asked")),
    execute: async function* ({ call }) {
      yield { event: { case: "result", value: { success: true, content: `result of ${call?.argumentsJson}`, summary: "done" } } };
    },
    openWorkspace: (path) => ({ path, gitRepository: true, gitBranch: "main" }),
    receipt: () => ({ state: GetReceiptResponse_State.NEVER_STARTED }),
    recordOutcome: () => undefined,
    recall: () => ({ facts: [] }),
    executeMemory: () => ({ success: true, content: "remembered", summary: "remembered" }),
  };
}

/** Model gateway, policy, audit, sandbox and memory as one real server whose answers the test chooses. */
export async function startFakeServices(verifier: TokenVerifier, log: Log): Promise<FakeServices> {
  const behaviour = usualBehaviour();
  const seen: Seen = {
    requests: [],
    decided: [],
    executed: [],
    outcomes: [],
    withdrawn: [],
    opened: [],
    closed: [],
    principals: new Set(),
    traces: new Map(),
  };
  const bound = new Map<string, string>();
  const note = (context: HandlerContext): void => {
    const { principal, traceId } = callContext(context);
    const method = `${context.service.name}/${context.method.name}`;
    seen.principals.add(`${principal.organization}/${principal.id}`);
    seen.traces.set(method, (seen.traces.get(method) ?? new Set()).add(traceId));
  };
  const server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log,
    authenticate: verifier,
    services: [],
    routes: (router) => {
      router.service(ModelService, {
        resolveModel: (_, context) => {
          note(context);
          return { model: behaviour.model };
        },
        async *generate(request, context) {
          note(context);
          seen.requests.push(request);
          yield* behaviour.generate(request, seen.requests.length, context);
        },
      });
      router.service(PolicyService, {
        decide: async (request, context) => {
          note(context);
          seen.decided.push(request);
          return { verdict: await behaviour.decide(request) };
        },
        awaitApproval: async ({ approvalId }, context) => {
          note(context);
          return { verdict: await behaviour.awaitApproval(approvalId, context) };
        },
        withdrawApprovals: ({ runId }, context) => {
          note(context);
          seen.withdrawn.push(runId);
          return {};
        },
      });
      router.service(AuditService, {
        recordOutcome: async (request, context) => {
          note(context);
          await behaviour.recordOutcome(request);
          seen.outcomes.push(request);
          return { id: BigInt(seen.outcomes.length) };
        },
      });
      router.service(SandboxService, {
        openWorkspace: ({ path, sessionId }, context) => {
          note(context);
          const opened = behaviour.openWorkspace(path, sessionId);
          if ((bound.get(sessionId) ?? opened.path) !== opened.path) throw alreadyBound(sessionId, bound.get(sessionId)!);
          bound.set(sessionId, opened.path);
          seen.opened.push(sessionId);
          return opened;
        },
        closeWorkspace: ({ sessionId }, context) => {
          note(context);
          bound.delete(sessionId);
          seen.closed.push(sessionId);
          return {};
        },
        async *execute(request, context) {
          note(context);
          seen.executed.push(request);
          yield* behaviour.execute(request, context);
        },
        getReceipt: ({ callId }, context) => {
          note(context);
          return behaviour.receipt(callId);
        },
      });
      router.service(MemoryService, {
        recall: ({ query }, context) => {
          note(context);
          return behaviour.recall(query);
        },
        executeTool: (request, context) => {
          note(context);
          return { result: behaviour.executeMemory(request) };
        },
      });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, behaviour, seen, bound, close: server.close };
}

function alreadyBound(sessionId: string, path: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "workspace_already_bound",
    message: `The session ${sessionId} works on ${path} and cannot change to another folder.`,
  });
}
