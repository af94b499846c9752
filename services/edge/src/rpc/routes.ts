import { create, type DescMethod, type DescMethodServerStreaming, type DescMethodUnary, type MessageShape } from "@bufbuild/protobuf";
import type { ConnectRouter, HandlerContext, MethodImpl } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import {
  ApprovalAnswer,
  ApprovalKind,
  ApprovalSchema,
  GetApprovalRequestSchema,
  PolicyService,
} from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { MemoryWorkService } from "@hlvm/proto/hlvm/session/v1/memory_work_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { SharingService } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import { SpendingService } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { DelegateRun } from "../domain/delegate-run.ts";
import type { Backend, Backends } from "./backends.ts";
import { forwardServerStreaming, forwardUnary } from "./forward.ts";
import { PUBLIC_SERVICES } from "./public-methods.ts";
import { recordedFirst } from "./recorded-first.ts";
import { workspaceGrant } from "./workspace-grant.ts";

type StartRun = typeof SessionService.method.startRun;

const { getChanges, listProcesses, stopProcess, readInstructions } = SandboxService.method;
/** Of the workspace of a session, which may be another person's. */
const OF_WORKSPACES: ReadonlySet<DescMethod> = new Set([getChanges, listProcesses, stopProcess, readInstructions]);

export interface Forwarding {
  readonly backends: Backends;
  readonly minter: TokenMinter;
  readonly delegate: DelegateRun;
}

/** Every public method, forwarded, StartRun with what the edge adds to it; the other methods of the same services, refused. */
export function routes(router: ConnectRouter, { backends, minter, delegate }: Forwarding): void {
  const granted = workspaceGrant(backends.policy, minter);
  for (const { service, backend: name, methods } of PUBLIC_SERVICES) {
    const backend = backends[name];
    for (const method of service.methods) {
      const isOpen = methods.has(method.localName);
      if (isOpen && method === SessionService.method.startRun)
        router.rpc(SessionService.method.startRun, startRunMethod(backend, minter, delegate));
      else if (isOpen && method === SessionService.method.undoToTurn)
        router.rpc(SessionService.method.undoToTurn, undoMethod(backend, minter, delegate));
      else if (isOpen && method === SessionService.method.forkSession)
        router.rpc(SessionService.method.forkSession, forkMethod(backend, minter, delegate));
      else if (isOpen && method === SharingService.method.putGrant)
        router.rpc(SharingService.method.putGrant, sharingMethod(SharingService.method.putGrant, backend, minter, delegate));
      else if (isOpen && method === SharingService.method.removeGrant)
        router.rpc(SharingService.method.removeGrant, sharingMethod(SharingService.method.removeGrant, backend, minter, delegate));
      else if (isOpen && method === SharingService.method.takeSession)
        router.rpc(SharingService.method.takeSession, sharingMethod(SharingService.method.takeSession, backend, minter, delegate));
      else if (isOpen && method === SpendingService.method.putBudget)
        router.rpc(SpendingService.method.putBudget, putBudgetMethod(backend, minter, delegate));
      else if (isOpen && method === MemoryWorkService.method.allowMemoryWork)
        router.rpc(
          MemoryWorkService.method.allowMemoryWork,
          memoryWorkMethod(MemoryWorkService.method.allowMemoryWork, backend, minter, delegate),
        );
      else if (isOpen && method === MemoryWorkService.method.labelSession)
        router.rpc(
          MemoryWorkService.method.labelSession,
          memoryWorkMethod(MemoryWorkService.method.labelSession, backend, minter, delegate),
        );
      else if (isOpen && method === PolicyService.method.answerApproval)
        router.rpc(PolicyService.method.answerApproval, answerMethod(backend, minter, delegate));
      else if (isOpen && isUnary(method) && OF_WORKSPACES.has(method)) router.rpc(method, forwardUnary(method, backend, minter, granted));
      else if (isUnary(method) && methods.get(method.localName)?.isRecorded === true)
        router.rpc(method, forwardUnary(method, backend, minter, recordedFirst(method, backends.policy, minter)));
      else if (isUnary(method)) router.rpc(method, isOpen ? forwardUnary(method, backend, minter) : () => refuse(method));
      else if (isServerStreaming(method))
        router.rpc(method, isOpen ? forwardServerStreaming(method, backend, minter) : () => refuse(method));
      else if (isOpen) throw new Error(`${service.typeName}.${method.name} is of a kind that is not forwarded`);
    }
  }
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

function isServerStreaming(method: DescMethod): method is DescMethodServerStreaming {
  return method.methodKind === "server_streaming";
}

function refuse(method: DescMethod): never {
  throw new HlvmError({
    code: "unimplemented",
    reason: "method_not_public",
    message: `${method.parent.typeName}.${method.name} is not open to clients.`,
    advice: "Only services of the mesh call it.",
  });
}

/** Hands a run on with ids of the edge's choosing and what the person lets it do, whatever the client sent in their place. */
function startRunMethod(orchestrator: Backend, minter: TokenMinter, delegate: DelegateRun): MethodImpl<StartRun> {
  const forward = forwardUnary(SessionService.method.startRun, orchestrator, minter) as MethodImpl<StartRun>;
  return async (request, context) => forward(await delegate(callContext(context).principal, request), context);
}

function undoMethod(
  orchestrator: Backend,
  minter: TokenMinter,
  delegate: DelegateRun,
): MethodImpl<typeof SessionService.method.undoToTurn> {
  const forward = forwardUnary(SessionService.method.undoToTurn, orchestrator, minter) as MethodImpl<
    typeof SessionService.method.undoToTurn
  >;
  return (request, context) => forward(delegate.undo(callContext(context).principal, request), context);
}

function forkMethod(
  orchestrator: Backend,
  minter: TokenMinter,
  delegate: DelegateRun,
): MethodImpl<typeof SessionService.method.forkSession> {
  const { forkSession } = SessionService.method;
  const forward = forwardUnary(forkSession, orchestrator, minter) as MethodImpl<typeof forkSession>;
  return (request, context) => forward(delegate.fork(callContext(context).principal, request), context);
}

type SharingChange = (typeof SharingService.method)["putGrant" | "removeGrant" | "takeSession"];
type SharingRequest = MessageShape<SharingChange["input"]>;

/** With what lets the orchestrator have it recorded in the person's name. */
function sharingMethod<Method extends SharingChange>(
  method: Method,
  orchestrator: Backend,
  minter: TokenMinter,
  delegate: DelegateRun,
): MethodImpl<Method> {
  const forward = forwardUnary(method, orchestrator, minter) as (request: SharingRequest, context: HandlerContext) => unknown;
  const answer = (request: SharingRequest, context: HandlerContext) =>
    forward(delegate.sharing(callContext(context).principal, request), context);
  return answer as MethodImpl<Method>;
}

/** With what lets the orchestrator have the change recorded in the person's name. */
function putBudgetMethod(
  orchestrator: Backend,
  minter: TokenMinter,
  delegate: DelegateRun,
): MethodImpl<typeof SpendingService.method.putBudget> {
  const { putBudget } = SpendingService.method;
  const forward = forwardUnary(putBudget, orchestrator, minter) as MethodImpl<typeof putBudget>;
  return (request, context) => forward(delegate.budgetChange(callContext(context).principal, request), context);
}

type MemoryWorkMethod = (typeof MemoryWorkService.method)["allowMemoryWork" | "labelSession"];
type MemoryWorkRequest = MessageShape<MemoryWorkMethod["input"]>;

/** With what lets the orchestrator ask a model in the person's name. */
function memoryWorkMethod<Method extends MemoryWorkMethod>(
  method: Method,
  orchestrator: Backend,
  minter: TokenMinter,
  delegate: DelegateRun,
): MethodImpl<Method> {
  const forward = forwardUnary(method, orchestrator, minter) as (request: MemoryWorkRequest, context: HandlerContext) => unknown;
  const answer = async (request: MemoryWorkRequest, context: HandlerContext) =>
    forward(await delegate.memoryWork(callContext(context).principal, request), context);
  return answer as MethodImpl<Method>;
}

type AnswerApproval = typeof PolicyService.method.answerApproval;

/**
 * Hands an answer on. To accept a plan is to let its run do more: that is signed here, for who accepts it, with the settings
 * that policy keeps with the plan and the mode that they chose, and for nobody but who started the run.
 */
function answerMethod(policy: Backend, minter: TokenMinter, delegate: DelegateRun): MethodImpl<AnswerApproval> {
  const forward = forwardUnary(PolicyService.method.answerApproval, policy, minter) as MethodImpl<AnswerApproval>;
  const get = forwardUnary(PolicyService.method.getApproval, policy, minter) as MethodImpl<typeof PolicyService.method.getApproval>;
  return async (request, context) => {
    request.delegation = "";
    if (request.answer === ApprovalAnswer.DENY || request.mode === 0) return forward(request, context);
    const { principal } = callContext(context);
    const { approval } = await get(create(GetApprovalRequestSchema, { approvalId: request.approvalId }), context);
    const isOwnPlan = approval?.kind === ApprovalKind.PLAN && approval.requestedBy === principal.id;
    // What is not theirs to accept policy refuses, and says why.
    return forward(isOwnPlan ? await delegate.answer(principal, request, create(ApprovalSchema, approval)) : request, context);
  };
}
