import { fork, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient, type CallOptions, type Client } from "@connectrpc/connect";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { nodeFlags } from "@hlvm/service/node-flags";
import type { StartMessage } from "@hlvm/service/run-service";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { createTestIdentity, testPrincipal, type TestIdentity } from "@hlvm/testing/test-identity";
import { callOptions, callTool, type TestCall } from "./call-tool.ts";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));
const MIGRATIONS = join(import.meta.dirname, "../../migrations");

/** One replica, a process of its own. */
export interface TestReplica {
  readonly name: string;
  readonly address: string;
  readonly client: Client<typeof SandboxService>;
  readonly execute: (call: TestCall) => Promise<ToolResult>;
  readonly open: (sessionId: string, path: string) => Promise<unknown>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves when the process has ended. */
  readonly exited: Promise<unknown>;
}

export interface TestReplicas {
  readonly identity: TestIdentity;
  readonly placed: TestDatabase;
  /** @param environment what differs from the usual */
  readonly start: (name: string, environment?: Readonly<Record<string, string>>) => Promise<TestReplica>;
  readonly newWorkspace: () => string;
  readonly options: () => CallOptions;
  readonly close: () => Promise<void>;
}

/** The first one has a longer lease while it is alone. */
async function untilTheyKnowEachOther({ database }: TestDatabase): Promise<void> {
  const long = `SELECT FROM replica WHERE lease_until > now() + interval '5 seconds'
    AND (SELECT count(*) FROM replica WHERE lease_until > now()) > 1`;
  while ((await database.query(long)).length > 0) await wait(50);
}

/** Replicas of the service on one machine: one database, one state directory. */
export async function startTestReplicas(): Promise<TestReplicas> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "hlvm-replicas-")));
  const identity = await createTestIdentity();
  const placed = await createTestDatabase(MIGRATIONS);
  const writeKeys = (name: string, keys: readonly object[]): string => {
    writeFileSync(join(folder, name), JSON.stringify({ keys }));
    return join(folder, name);
  };
  const usual = {
    PATH: process.env.PATH ?? "",
    HLVM_LOG_LEVEL: "warn",
    HLVM_DATABASE_URL: placed.url,
    HLVM_TOKEN_PUBLIC_KEYS: writeKeys("token-keys.json", identity.tokenKeys),
    HLVM_GRANT_PUBLIC_KEYS: writeKeys("grant-keys.json", identity.grantKeys),
    HLVM_SANDBOX_STATE_DIRECTORY: join(folder, "state"),
  };
  const children: ChildProcess[] = [];
  return {
    identity,
    placed,
    start: async (name, environment = {}) => {
      const env = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...usual, HLVM_REPLICA_NAME: name, ...environment };
      const child = fork(MAIN, { stdio: ["ignore", "ignore", "inherit", "ipc"], env, execArgv: nodeFlags("sandbox") });
      children.push(child);
      const exited = once(child, "exit");
      const [message] = (await Promise.race([once(child, "message"), exited.then(() => [undefined])])) as [StartMessage | undefined];
      if (message?.kind !== "ready") throw new Error(`${name} did not start: ${JSON.stringify(message)}`);
      const address = `http://127.0.0.1:${message.port}`;
      const client = createClient(SandboxService, createMeshTransport(address));
      if (children.length > 1) await untilTheyKnowEachOther(placed);
      return {
        name,
        address,
        client,
        execute: (call) => callTool(identity, client, call),
        open: (sessionId, path) => client.openWorkspace({ sessionId, path }, callOptions(identity)),
        kill: (signal) => void child.kill(signal),
        exited,
      };
    },
    newWorkspace: () => {
      const workspace = join(folder, `workspace-${randomUUID()}`);
      mkdirSync(workspace);
      return workspace;
    },
    options: () => callOptions(identity, testPrincipal),
    close: async () => {
      const left = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
      const ended = left.map((child) => once(child, "exit"));
      for (const child of left) child.kill("SIGKILL");
      await Promise.all(ended);
      await placed.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
