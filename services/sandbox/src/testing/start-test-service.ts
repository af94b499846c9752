import { randomUUID } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type CallOptions, type Client } from "@connectrpc/connect";
import type { Principal } from "@hlvm/identity/principal";
import { publicKeysOf } from "@hlvm/identity/public-keys";
import { SandboxService, type GetReceiptResponse } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestDatabase } from "@hlvm/testing/create-test-database";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { FileJournal } from "../adapters/file-journal.ts";
import { PostgresPlacements } from "../adapters/postgres/postgres-placements.ts";
import { stateVolume } from "../adapters/state-volume.ts";
import { Placements } from "../domain/placement/placements.ts";
import { ReplicaLease } from "../domain/placement/replica-lease.ts";
import { Sessions } from "../domain/sessions.ts";
import { ToolExecutor } from "../domain/tool-executor.ts";
import { openPreparedWorkspaces, type PreparedWorkspacesSettings } from "../open-prepared-workspaces.ts";
import { routes } from "../rpc/routes.ts";
import { workspaceOwner } from "../rpc/workspace-owner.ts";
import { callOptions, callTool, signGrant, type TestCall } from "./call-tool.ts";
import { openTestIsolation } from "./open-test-sandbox.ts";

const MIGRATIONS = join(import.meta.dirname, "../../migrations");
/** The service as it runs, on a port of its own: real isolation, real signatures, real HTTP. */
export async function startTestService(
  options: { maximumOpen?: number; maximumSandboxes?: number; idleMilliseconds?: number } & Partial<PreparedWorkspacesSettings> = {},
) {
  const { isolation, stateDirectory } = await openTestIsolation();
  const identity = await createTestIdentity();
  const placed = await createTestDatabase(MIGRATIONS);
  const gate = identity.gate();
  const workspaces: string[] = [];

  const start = async () => {
    const store = new PostgresPlacements(placed.database, { name: "sandbox", volume: stateVolume(stateDirectory) });
    const lease = new ReplicaLease(store, testLog);
    const placements = new Placements(store, lease);
    const settings = {
      stateDirectory,
      workspaceMebibytes: 8,
      workspaceDays: 14,
      gitPrivateHosts: [],
      gitFolders: [],
      images: "",
      ...options,
    };
    const { prepared, copied, folders } = openPreparedWorkspaces(settings, { isolation, placements, protectedPaths: [stateDirectory] });
    const sessions = new Sessions({
      isolation,
      folders,
      journal: FileJournal.open(stateDirectory, testLog),
      placements,
      maximumOpen: options.maximumOpen ?? 1_000,
      maximumSandboxes: options.maximumSandboxes ?? 8,
      idleMilliseconds: options.idleMilliseconds ?? 60_000,
      log: testLog,
    });
    const executor = new ToolExecutor(sessions, gate);
    const ownerOf = workspaceOwner(publicKeysOf(identity.grantKeys));
    const server = await startRpcServer({
      host: "127.0.0.1",
      port: 0,
      log: testLog,
      routes: (router) => routes(router, { sessions, prepared, copied, placements, executor, isolation, ownerOf, capacity: "8" }),
      services: [SandboxService.typeName],
      authenticate: identity.verifier("sandbox"),
    });
    const url = `http://127.0.0.1:${server.port}`;
    lease.onLost(() => sessions.abandon());
    await lease.start(url);
    return { sessions, server, lease, url, client: createClient(SandboxService, createMeshTransport(url)) };
  };
  let running = await start();

  const headersOf = async (principal: Principal): Promise<CallOptions> => callOptions(identity, principal);

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
    identity,
    headersOf,
    sign: (call: Parameters<typeof signGrant>[1]): string => signGrant(identity, call),
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
    execute: (call: TestCall): Promise<ToolResult> => callTool(identity, running.client, call),
    async receipt(sessionId: string, callId: string, principal = testPrincipal): Promise<GetReceiptResponse> {
      return running.client.getReceipt({ sessionId, callId }, await headersOf(principal));
    },
    /** Ends the service as a crash would, with its journal as it stands, and starts it again. */
    async restart(): Promise<void> {
      await Promise.all([running.sessions.closeAll(), running.server.close(), running.lease.release()]);
      running = await start();
    },
    async close(): Promise<void> {
      await Promise.all([running.sessions.closeAll(), running.server.close(), running.lease.release()]);
      await Promise.all([isolation.close(), placed.drop()]);
      for (const folder of [stateDirectory, ...workspaces]) rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type TestService = Awaited<ReturnType<typeof startTestService>>;
