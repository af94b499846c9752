import { randomUUID } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type CallOptions, type Client } from "@connectrpc/connect";
import { canonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import type { Principal } from "@hlvm/identity/principal";
import { SandboxService, type GetReceiptResponse } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { createMeshTransport } from "@hlvm/rpc/create-mesh-transport";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestIdentity, testPrincipal, testEnforcement } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { definitionHash } from "@hlvm/tools/definition-hash";
import { findNativeTool } from "@hlvm/tools/native-tools";
import { FileJournal } from "../adapters/file-journal.ts";
import { LocalFolders } from "../adapters/local-folders.ts";
import { Sessions } from "../domain/sessions.ts";
import { ToolExecutor } from "../domain/tool-executor.ts";
import { routes } from "../rpc/routes.ts";
import { openTestIsolation } from "./open-test-sandbox.ts";

/** More than a tool's own time: a call may wait for room. */
const DEADLINE_MILLISECONDS = 120_000;

export interface TestCall {
  readonly sessionId: string;
  readonly tool: string;
  readonly given: object;
  readonly callId?: string;
  readonly runId?: string;
  readonly principal?: Principal;
  /** Left out, one that fits. */
  readonly grant?: string;
  readonly definitionHash?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly onOutput?: (text: string) => void;
  readonly onWaiting?: (position: number) => void;
}

/** The service as it runs, on a port of its own: real isolation, real signatures, real HTTP. */
export async function startTestService(options: { maximumSandboxes?: number; idleMilliseconds?: number } = {}) {
  const { isolation, stateDirectory } = await openTestIsolation();
  const identity = await createTestIdentity();
  const gate = identity.gate();
  const workspaces: string[] = [];

  const start = async () => {
    const sessions = new Sessions({
      isolation,
      folders: new LocalFolders([stateDirectory]),
      journal: await FileJournal.open(stateDirectory, testLog),
      maximumSandboxes: options.maximumSandboxes ?? 8,
      idleMilliseconds: options.idleMilliseconds ?? 60_000,
      log: testLog,
    });
    const executor = new ToolExecutor(sessions, gate);
    const server = await startRpcServer({
      host: "127.0.0.1",
      port: 0,
      log: testLog,
      routes: (router) => routes(router, { sessions, executor, isolation, capacity: "8" }),
      services: [SandboxService.typeName],
      authenticate: identity.verifier("sandbox"),
    });
    const url = `http://127.0.0.1:${server.port}`;
    const client = createClient(SandboxService, createMeshTransport(url));
    return { sessions, server, client, url };
  };
  let running = await start();

  const headersOf = async (principal: Principal): Promise<CallOptions> => ({
    headers: { authorization: `Bearer ${identity.minter.mint(principal, "sandbox")}` },
  });
  const sign = (call: Required<Pick<TestCall, "sessionId" | "tool" | "given" | "callId" | "runId" | "principal">>): string =>
    identity.signer.sign({
      organization: call.principal.organization,
      principal: call.principal.id,
      sessionId: call.sessionId,
      runId: call.runId,
      callId: call.callId,
      tool: call.tool,
      definitionHash: definitionHash(findNativeTool(call.tool)!),
      argumentsHash: canonicalArguments(JSON.stringify(call.given)).hash,
      policyVersion: "test",
      ...testEnforcement,
    });

  return {
    get client(): Client<typeof SandboxService> {
      return running.client;
    },
    get url(): string {
      return running.url;
    },
    get sessions(): Sessions {
      return running.sessions;
    },
    stateDirectory,
    headersOf,
    sign,
    newWorkspace(): string {
      const workspace = realpathSync(mkdtempSync(join(tmpdir(), "hlvm-workspace-")));
      workspaces.push(workspace);
      return workspace;
    },
    /** A new session on a new workspace. */
    async open(principal = testPrincipal): Promise<{ sessionId: string; workspace: string }> {
      const sessionId = randomUUID();
      const workspace = this.newWorkspace();
      await running.client.openWorkspace({ sessionId, path: workspace }, await headersOf(principal));
      return { sessionId, workspace };
    },
    async execute(call: TestCall): Promise<ToolResult> {
      const { principal = testPrincipal, callId = randomUUID(), runId = randomUUID(), sessionId, tool, given } = call;
      const grant = call.grant ?? sign({ principal, callId, runId, sessionId, tool, given });
      const hash = call.definitionHash ?? definitionHash(findNativeTool(tool)!);
      const request = { call: { sessionId, runId, callId, tool, argumentsJson: JSON.stringify(given), definitionHash: hash }, grant };
      let result: ToolResult | undefined;
      const { signal, timeoutMs = DEADLINE_MILLISECONDS } = call;
      for await (const { event } of running.client.execute(request, { ...(await headersOf(principal)), signal, timeoutMs })) {
        if (event.case === "waiting") call.onWaiting?.(event.value.position);
        if (event.case === "output") call.onOutput?.(event.value.text);
        if (event.case === "result") result = event.value;
      }
      if (result === undefined) throw new Error("the stream ended without a result");
      return result;
    },
    async receipt(sessionId: string, callId: string, principal = testPrincipal): Promise<GetReceiptResponse> {
      return running.client.getReceipt({ sessionId, callId }, await headersOf(principal));
    },
    /** Ends the service as a crash would, with its journal as it stands, and starts it again. */
    async restart(): Promise<void> {
      await Promise.all([running.sessions.closeAll(), running.server.close()]);
      running = await start();
    },
    async close(): Promise<void> {
      await Promise.all([running.sessions.closeAll(), running.server.close()]);
      await isolation.close();
      for (const folder of [stateDirectory, ...workspaces]) rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type TestService = Awaited<ReturnType<typeof startTestService>>;
