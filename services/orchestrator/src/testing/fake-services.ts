import { on, EventEmitter } from "node:events";
import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { TokenVerifier } from "@hlvm/identity/token-verifier";
import type { Log } from "@hlvm/log/create-log";
import { AuditService, type RecordModelCallRequest, type RecordOutcomeRequest } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { ModelWorkService, type PutModelWorkRequest } from "@hlvm/proto/hlvm/memory/v1/model_work_pb";
import { MemoryStatsService, type RecordAnswerRequest } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { ModelService, type CountTokensRequest, type GenerateRequest, type ResolveModelRequest } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { PolicyService, type DecideRequest, type PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { TeamResolverService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { RunAnswersService, RunPolicyService } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { SandboxService, type ExecuteRequest } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { TrustService } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import { answerCalls } from "@hlvm/call-stream/answer-calls";
import { WORKSPACE_GRANT_HEADER } from "@hlvm/grant/workspace-grant";
import { callContext } from "@hlvm/rpc/call-context";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { fakeRunPolicy } from "./fake-run-policy.ts";
import { usualBehaviour, type Behaviour } from "./usual-behaviour.ts";

/** What reached the other services, in order. */
export interface Seen {
  readonly requests: GenerateRequest[];
  readonly counted: CountTokensRequest[];
  readonly resolved: ResolveModelRequest[];
  readonly decided: DecideRequest[];
  readonly executed: ExecuteRequest[];
  readonly outcomes: RecordOutcomeRequest[];
  /** Runs whose approvals were withdrawn. */
  readonly withdrawn: string[];
  /** Answers that memory was told of. */
  readonly answers: RecordAnswerRequest[];
  /** Calls of models that belong to no run, as they were put on record. */
  readonly modelCalls: RecordModelCallRequest[];
  /** What a model answered of what memory holds. */
  readonly found: PutModelWorkRequest[];
  /** Claims of that which were given back. */
  readonly released: string[];
  readonly opened: string[];
  readonly closed: string[];
  readonly principals: Set<string>;
  /** Call id → the mode of the delegation with which policy was asked about it. */
  readonly modes: Map<string, PermissionMode>;
  /** What was shown to the sandbox for workspaces of others. */
  readonly workspaceGrants: Set<string>;
  /** Runs for which was called: those of the delegations. */
  readonly runs: Set<string>;
  /** Method → the trace ids of its calls. */
  readonly traces: Map<string, Set<string>>;
}

const SERVICES = ["model-gateway", "policy", "sandbox", "memory"] as const;
type FakeService = (typeof SERVICES)[number];

export interface FakeServices {
  /** Where each of them listens. */
  readonly urls: Readonly<Record<FakeService, string>>;
  readonly behaviour: Behaviour;
  readonly seen: Seen;
  /** The folder to which the sandbox has bound each session; to forget them all is to start the sandbox anew. */
  readonly bound: Map<string, string>;
  /** Has policy tell that a question of this run was answered. */
  readonly tellAnswered: (runId: string) => void;
  /** Has them behave as usual again, and forget what they have seen. */
  readonly reset: () => void;
  readonly close: () => Promise<void>;
}

/** Model gateway, policy, audit, sandbox and memory as real servers whose answers the test chooses. */
export async function startFakeServices(verifier: (service: FakeService) => TokenVerifier, log: Log): Promise<FakeServices> {
  const behaviour: Behaviour = { ...usualBehaviour };
  const seen: Seen = {
    requests: [],
    counted: [],
    resolved: [],
    decided: [],
    executed: [],
    outcomes: [],
    withdrawn: [],
    answers: [],
    modelCalls: [],
    found: [],
    released: [],
    opened: [],
    closed: [],
    principals: new Set(),
    workspaceGrants: new Set(),
    runs: new Set(),
    modes: new Map(),
    traces: new Map(),
  };
  const answers = new EventEmitter();
  const untaken: string[] = [];
  const tellAnswered = (runId: string): void => {
    untaken.push(runId);
    answers.emit("answer", runId);
  };
  const bound = new Map<string, string>();
  const note = (context: HandlerContext, method = `${context.service.name}/${context.method.name}`): void => {
    const { principal, delegation, traceId } = callContext(context);
    seen.runs.add(delegation?.runId ?? "none");
    seen.principals.add(`${principal.organization}/${principal.id}`);
    const granted = context.requestHeader.get(WORKSPACE_GRANT_HEADER);
    if (granted !== null) seen.workspaceGrants.add(granted);
    seen.traces.set(method, (seen.traces.get(method) ?? new Set()).add(traceId));
  };
  const routes = (router: ConnectRouter): void => {
    router.service(ModelService, {
      resolveModel: (request, context) => {
        note(context);
        seen.resolved.push(request);
        return { model: behaviour.model };
      },
      async *generate(request, context) {
        note(context);
        seen.requests.push(request);
        yield* behaviour.generate(request, seen.requests.length, context);
      },
      countTokens: async (request, context) => {
        note(context);
        seen.counted.push(request);
        const counted = await behaviour.countTokens(request);
        return counted === undefined ? {} : { inputTokens: BigInt(counted) };
      },
      streamCalls: (requests, stream) =>
        answerCalls(requests, stream, {
          async *answer({ value }, context) {
            note(context, "ModelService/Generate");
            const request = value as GenerateRequest;
            seen.requests.push(request);
            const events = behaviour.generate(request, seen.requests.length, context);
            for await (const event of events) yield { case: "generate" as const, value: event };
          },
          isLast: ({ value }) => value.event?.case === "finish",
        }),
    });
    router.service(RunPolicyService, { streamCalls: fakeRunPolicy(behaviour, seen, note) });
    router.service(RunAnswersService, {
      async *watchAnswers(_request, { signal }) {
        behaviour.onWatchAnswers();
        const coming = on(answers, "answer", { signal });
        yield { runIds: [...untaken] };
        for await (const runIds of coming) yield { runIds: runIds as string[] };
      },
    });
    router.service(PolicyService, {
      grantWorkspace: ({ sessionId }, context) => {
        note(context);
        return { grant: behaviour.grantWorkspace(sessionId) };
      },
      attachPreview: (request, context) => {
        note(context);
        return { preview: behaviour.attachPreview(request) };
      },
      judgeCalls: ({ calls }, context) => {
        note(context);
        return { verdicts: calls.map((call) => behaviour.judge(call)) };
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
    router.service(TeamResolverService, {
      resolveTeams: ({ principal }) => ({ teams: behaviour.teams(principal) }),
    });
    router.service(TrustService, {
      checkTrust: (request, context) => {
        note(context);
        return { states: request.files.map((file) => behaviour.checkTrust(file, request.workspace)) };
      },
    });
    router.service(AuditService, {
      recordModelCall: (request, context) => {
        note(context);
        seen.modelCalls.push(request);
        return {};
      },
      recordSharing: ({ grant, removed }, context) => {
        note(context);
        behaviour.recordSharing(grant!, removed);
        return {};
      },
      recordHandOver: (_request, context) => {
        note(context);
        behaviour.recordHandOver();
        return {};
      },
      recordBudgetChange: ({ changeJson, ofOwnSession }, context) => {
        note(context);
        behaviour.recordBudgetChange(changeJson, ofOwnSession);
        return {};
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
      streamCalls: (requests, stream) =>
        answerCalls(requests, stream, {
          async *answer({ value }, context) {
            note(context, "SandboxService/Execute");
            const request = value as ExecuteRequest;
            seen.executed.push(request);
            for await (const event of behaviour.execute(request, context)) yield { case: "execute" as const, value: event };
          },
          isLast: ({ value }) => value.event?.case === "result",
        }),
      readInstructions: (request, context) => {
        note(context);
        return behaviour.readInstructions(request);
      },
      previewCall: (request, context) => {
        note(context);
        return behaviour.previewCall(request);
      },
      copyWorkspace: (request, context) => {
        note(context);
        return { workspace: { path: behaviour.copyWorkspace(request) } };
      },
      rewindWorkspace: (request, context) => {
        note(context);
        return behaviour.rewind(request);
      },
      getReceipt: ({ callId }, context) => {
        note(context);
        return behaviour.receipt(callId);
      },
    });
    router.service(MemoryService, {
      registerProject: (request, context) => {
        note(context);
        return behaviour.registerProject(request);
      },
      recall: ({ query }, context) => {
        note(context);
        return behaviour.recall(query);
      },
      executeTool: (request, context) => {
        note(context);
        return { result: behaviour.executeMemory(request) };
      },
    });
    router.service(ModelWorkService, {
      claimModelWork: (_request, context) => {
        note(context);
        return behaviour.claimWork(callContext(context).principal.id);
      },
      putModelWork: (request, context) => {
        note(context);
        seen.found.push(request);
        return behaviour.putWork(request);
      },
      releaseModelWork: ({ claimId }) => {
        seen.released.push(claimId);
        return {};
      },
    });
    router.service(MemoryStatsService, {
      recordAnswer: (request, context) => {
        note(context);
        seen.answers.push(request);
        return {};
      },
    });
  };
  const servers = await Promise.all(
    SERVICES.map((service) =>
      startRpcServer({
        host: "127.0.0.1",
        port: 0,
        log,
        authenticate: verifier(service),
        forServices: [RunAnswersService.typeName, TeamResolverService.typeName],
        services: [],
        routes,
      }),
    ),
  );
  const reset = (): void => {
    Object.assign(behaviour, usualBehaviour);
    for (const list of [
      seen.requests,
      seen.counted,
      seen.resolved,
      seen.decided,
      seen.executed,
      seen.outcomes,
      seen.withdrawn,
      seen.answers,
      seen.modelCalls,
      seen.found,
      seen.released,
      seen.opened,
      seen.closed,
    ])
      list.length = 0;
    for (const collection of [seen.principals, seen.workspaceGrants, seen.runs, seen.traces, seen.modes, bound]) collection.clear();
    untaken.length = 0;
  };
  const urls = Object.fromEntries(SERVICES.map((service, index) => [service, `http://127.0.0.1:${servers[index]!.port}`]));
  const close = async (): Promise<void> => void (await Promise.all(servers.map((server) => server.close())));
  return { urls: urls as Record<FakeService, string>, behaviour, seen, bound, tellAnswered, reset, close };
}

function alreadyBound(sessionId: string, path: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "workspace_already_bound",
    message: `The session ${sessionId} works on ${path} and cannot change to another folder.`,
  });
}
