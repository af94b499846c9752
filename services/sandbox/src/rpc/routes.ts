import type { ConnectRouter } from "@connectrpc/connect";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import type { Isolation } from "../domain/isolation.ts";
import type { Sessions } from "../domain/sessions.ts";
import type { ToolExecutor } from "../domain/tool-executor.ts";
import { listProcesses, stopProcess } from "./background-processes.ts";
import { closeWorkspace } from "./close-workspace.ts";
import { describeIsolation } from "./describe-isolation.ts";
import { execute } from "./execute.ts";
import { getReceipt } from "./get-receipt.ts";
import { openWorkspace } from "./open-workspace.ts";

export interface Domain {
  readonly sessions: Sessions;
  readonly executor: ToolExecutor;
  readonly isolation: Isolation;
  /** For people: how many sessions may have sandboxes up at a time, and why so many. */
  readonly capacity: string;
}

export function routes(router: ConnectRouter, { sessions, executor, isolation, capacity }: Domain): void {
  router.service(SandboxService, {
    openWorkspace: (request, context) => openWorkspace(sessions, request, context),
    closeWorkspace: (request, context) => closeWorkspace(sessions, request, context),
    execute: (request, context) => execute(executor, request, context),
    getReceipt: (request, context) => getReceipt(sessions, request, context),
    listProcesses: (request, context) => listProcesses(sessions, request, context),
    stopProcess: (request, context) => stopProcess(sessions, request, context),
    describeIsolation: () => describeIsolation(isolation, capacity),
  });
}
