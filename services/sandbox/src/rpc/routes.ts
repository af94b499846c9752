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
import { callContext } from "@hlvm/rpc/call-context";
import type { Isolation } from "../domain/isolation.ts";
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
import { tellingMoved } from "./tell-moved.ts";
import { toolResultMessage } from "./tool-result-message.ts";

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
  /** For people: how many sessions may have sandboxes up at a time, and why so many. */
  readonly capacity: string;
}

export function routes(router: ConnectRouter, { sessions, prepared, copied, placements, executor, isolation, capacity }: Domain): void {
  router.service(SandboxService, {
    openWorkspace: tellingMoved((request, context) => openWorkspace(sessions, request, context)),
    closeWorkspace: tellingMoved((request, context) => closeWorkspace(sessions, prepared, request, context)),
    cloneWorkspace: (request, context) => cloneWorkspace(prepared, request, context),
    beginUpload: tellingMoved((request, context) => beginUpload(prepared, request, context)),
    uploadChunk: tellingMoved((request, context) => uploadChunk(prepared, request, context)),
    finishUpload: tellingMoved((request, context) => finishUpload(prepared, request, context)),
    previewCall: tellingMoved((request, context) => previewOf(sessions, request, context)),
    copyWorkspace: tellingMoved((request, context) => copyWorkspace(sessions, copied, request, context)),
    getChanges: tellingMoved((request, context) => getChanges({ sessions, prepared, placements }, request, context)),
    readInstructions: tellingMoved((request, context) => readInstructions({ sessions, prepared, placements }, request, context)),
    execute: (request, context) => execute(executor, request, context),
    streamCalls: (requests, context) => streamCalls(executor, requests, context),
    getReceipt: tellingMoved((request, context) => getReceipt(sessions, request, context)),
    rewindWorkspace: tellingMoved((request, context) => rewindWorkspace(sessions, request, context)),
    listProcesses: tellingMoved((request, context) => listProcesses(sessions, request, context)),
    stopProcess: tellingMoved((request, context) => stopProcess(sessions, request, context)),
    describeIsolation: () => describeIsolation(isolation, capacity),
  });
}

async function openWorkspace(sessions: Sessions, request: OpenWorkspaceRequest, context: HandlerContext) {
  const { path, isGitRepository, gitBranch } = await sessions.open(callContext(context).principal, request.sessionId, request.path);
  return { path, gitRepository: isGitRepository, gitBranch };
}

async function previewOf(sessions: Sessions, { sessionId, tool, argumentsJson }: PreviewCallRequest, context: HandlerContext) {
  const { sandbox } = await sessions.get(callContext(context).principal, sessionId);
  return previewCall(sandbox, tool, canonicalArguments(argumentsJson).json);
}

async function copyWorkspace(sessions: Sessions, copied: CopiedWorkspaces, request: CopyWorkspaceRequest, context: HandlerContext) {
  const { principal, signal } = callContext(context);
  const turns = request.turns.map(({ runId, turn }) => `${runId}/${turn}`);
  return { workspace: await copied.copy(principal, { ...request, turns }, sessions, signal) };
}

async function closeWorkspace(
  sessions: Sessions,
  prepared: PreparedWorkspaces,
  { sessionId }: CloseWorkspaceRequest,
  context: HandlerContext,
) {
  const { principal } = callContext(context);
  await sessions.close(principal, sessionId);
  await prepared.remove(principal, sessionId);
  return {};
}

async function getReceipt(sessions: Sessions, request: GetReceiptRequest, context: HandlerContext) {
  const receipt = await sessions.receipt(callContext(context).principal, request.sessionId, request.callId);
  return { state: states[receipt.state], result: receipt.state === "done" ? toolResultMessage(receipt.result) : undefined };
}

function describeIsolation(isolation: Isolation, capacity: string) {
  const { driver, driverVersion, features } = isolation.describe();
  const described = features.map(({ name, isActive, detail }) => ({ name, active: isActive, detail }));
  return { driver, driverVersion, features: [...described, { name: "sessions at a time", active: true, detail: capacity }] };
}
