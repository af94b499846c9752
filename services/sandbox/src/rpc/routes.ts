import type { ConnectRouter, HandlerContext } from "@connectrpc/connect";
import {
  GetReceiptResponse_State,
  SandboxService,
  type CloseWorkspaceRequest,
  type CopyWorkspaceRequest,
  type GetReceiptRequest,
  type OpenWorkspaceRequest,
  type PreviewCallRequest,
} from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { canonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import type { WorkspaceUse } from "@hlvm/grant/workspace-grant";
import { callContext } from "@hlvm/rpc/call-context";
import type { Isolation } from "../domain/isolation.ts";
import type { Owner } from "../domain/receipts.ts";
import { previewCall } from "../domain/preview-call.ts";
import type { Placements } from "../domain/placement/placements.ts";
import type { CopiedWorkspaces } from "../domain/prepared/copied-workspaces.ts";
import type { PreparedWorkspaces } from "../domain/prepared/prepared-workspaces.ts";
import type { Sessions } from "../domain/sessions.ts";
import type { ToolExecutor } from "../domain/tool-executor.ts";
import { listProcesses, stopProcess } from "./background-processes.ts";
import { execute } from "./execute.ts";
import { getChanges } from "./get-changes.ts";
import { beginUpload, cloneWorkspace, finishUpload, uploadChunk } from "./prepared-workspaces.ts";
import { readInstructions } from "./read-instructions.ts";
import { rewindWorkspace } from "./rewind-workspace.ts";
import { streamCalls } from "./stream-calls.ts";
import { withMovedError } from "./moved-error.ts";
import { toolResultMessage } from "./tool-result-message.ts";
import type { WorkspaceOwner } from "./workspace-owner.ts";

const states = {
  never_started: GetReceiptResponse_State.NEVER_STARTED,
  running: GetReceiptResponse_State.RUNNING,
  done: GetReceiptResponse_State.DONE,
  unknown: GetReceiptResponse_State.UNKNOWN,
};

export interface Domain {
  readonly sessions: Sessions;
  readonly prepared: PreparedWorkspaces;
  readonly copied: CopiedWorkspaces;
  readonly placements: Placements;
  readonly executor: ToolExecutor;
  readonly isolation: Isolation;
  readonly ownerOf: WorkspaceOwner;
  /** For people: how many sessions may have sandboxes up at a time, and why so many. */
  readonly capacity: string;
}

type AnswerForOwner<Request, Response> = (owner: Owner, request: Request, context: HandlerContext) => Promise<Response>;

export function routes(router: ConnectRouter, domain: Domain): void {
  const { sessions, prepared, copied, placements, executor, isolation, ownerOf, capacity } = domain;
  const forUse =
    (use: WorkspaceUse) =>
    <Request extends { readonly sessionId: string }, Response>(answer: AnswerForOwner<Request, Response>) =>
      withMovedError((request: Request, context: HandlerContext) => answer(ownerOf(context, request.sessionId, use), request, context));
  const viewing = forUse("view");
  const driving = forUse("drive");
  router.service(SandboxService, {
    openWorkspace: driving((owner, request) => openWorkspace(sessions, owner, request)),
    closeWorkspace: driving((owner, request, context) => closeWorkspace({ sessions, prepared }, owner, request, context)),
    cloneWorkspace: (request, context) => cloneWorkspace(prepared, request, context),
    beginUpload: withMovedError((request, context) => beginUpload(prepared, request, context)),
    uploadChunk: withMovedError((request, context) => uploadChunk(prepared, request, context)),
    finishUpload: withMovedError((request, context) => finishUpload(prepared, request, context)),
    previewCall: driving((owner, request) => previewOf(sessions, owner, request)),
    copyWorkspace: viewing((owner, request, context) => copyWorkspace({ sessions, copied }, owner, request, context)),
    getChanges: viewing((owner, request, context) => getChanges({ sessions, prepared, placements }, owner, request, context)),
    readInstructions: viewing((owner, request, context) => readInstructions({ sessions, prepared, placements }, owner, request, context)),
    execute: (request, context) => execute({ executor, ownerOf }, request, context),
    streamCalls: (requests, context) => streamCalls({ executor, ownerOf }, requests, context),
    getReceipt: driving((owner, request) => getReceipt(sessions, owner, request)),
    rewindWorkspace: driving((owner, request) => rewindWorkspace(sessions, owner, request)),
    listProcesses: viewing((owner, request) => listProcesses(sessions, owner, request)),
    stopProcess: driving((owner, request) => stopProcess(sessions, owner, request)),
    describeIsolation: () => describeIsolation(isolation, capacity),
  });
}

async function openWorkspace(sessions: Sessions, owner: Owner, request: OpenWorkspaceRequest) {
  const { path, isGitRepository, gitBranch } = await sessions.open(owner, request.sessionId, request.path);
  return { path, gitRepository: isGitRepository, gitBranch };
}

async function previewOf(sessions: Sessions, owner: Owner, { sessionId, tool, argumentsJson }: PreviewCallRequest) {
  const { sandbox } = await sessions.get(owner, sessionId);
  return previewCall(sandbox, tool, canonicalArguments(argumentsJson).json);
}

async function copyWorkspace(
  { sessions, copied }: Pick<Domain, "sessions" | "copied">,
  owner: Owner,
  request: CopyWorkspaceRequest,
  context: HandlerContext,
) {
  const { principal, signal } = callContext(context);
  const turns = request.turns.map(({ runId, turn }) => `${runId}/${turn}`);
  return { workspace: await copied.copy(owner, { ...request, newOwner: principal, turns }, sessions, signal) };
}

/** What was prepared for a session goes with it, and by nobody but its owner. */
async function closeWorkspace(
  { sessions, prepared }: Pick<Domain, "sessions" | "prepared">,
  owner: Owner,
  { sessionId }: CloseWorkspaceRequest,
  context: HandlerContext,
) {
  await sessions.close(owner, sessionId);
  await prepared.remove(callContext(context).principal, sessionId);
  return {};
}

async function getReceipt(sessions: Sessions, owner: Owner, request: GetReceiptRequest) {
  const receipt = await sessions.receipt(owner, request.sessionId, request.callId);
  return { state: states[receipt.state], result: receipt.state === "done" ? toolResultMessage(receipt.result) : undefined };
}

function describeIsolation(isolation: Isolation, capacity: string) {
  const { driver, driverVersion, features } = isolation.describe();
  const described = features.map(({ name, isActive, detail }) => ({ name, active: isActive, detail }));
  return { driver, driverVersion, features: [...described, { name: "sessions at a time", active: true, detail: capacity }] };
}
