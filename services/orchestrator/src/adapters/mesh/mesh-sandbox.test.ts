import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { SandboxMovedSchema, SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { ToolCallSchema } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { answerCalls } from "@hlvm/call-stream/answer-calls";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { retryInterceptor } from "@hlvm/transport/retry-interceptor";
import { SessionReplicas } from "@hlvm/session-replicas/session-replicas";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestIdentity, testPrincipal, type TestIdentity } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { afterEach, beforeEach, expect, it } from "vitest";
import { MeshCaller } from "./mesh-caller.ts";
import { MeshSandbox } from "./mesh-sandbox.ts";

const sessionId = randomUUID();
const signal = new AbortController().signal;

let identity: TestIdentity;
/** Which of the two replicas holds the session; the first is the one that the orchestrator is told of. */
let holder: number;
let servers: RpcServer[];
let executed: number[];
let sandbox: MeshSandbox;

beforeEach(async () => {
  identity = await createTestIdentity();
  holder = 1;
  executed = [0, 0];
  servers = [];
  for (const index of [0, 1]) servers.push(await serve(index));
  const replicas = new SessionReplicas(createMeshTransport(urlOf(0), [retryInterceptor]), []);
  const run = { principal: testPrincipal, delegation: identity.delegate({ principal: testPrincipal }) };
  sandbox = new MeshSandbox(replicas, new MeshCaller(identity.runMinter, run, "sandbox"), { for: async () => undefined });
});
afterEach(async () => void (await Promise.all(servers.map((server) => server.close()))));

const urlOf = (index: number): string => `http://127.0.0.1:${servers[index]!.port}`;

function serve(index: number): Promise<RpcServer> {
  const requireHeld = (): void => {
    if (holder === index) return;
    const detail = { desc: SandboxMovedSchema, value: { address: urlOf(holder), epoch: 1n } };
    throw new ConnectError("elsewhere", Code.FailedPrecondition, undefined, [detail]);
  };
  return startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    services: [],
    authenticate: identity.verifier("sandbox"),
    routes: (router) =>
      void router.service(SandboxService, {
        openWorkspace: () => {
          requireHeld();
          return { path: `/at/${index}` };
        },
        streamCalls: (requests, stream) =>
          answerCalls(requests, stream, {
            async *answer() {
              requireHeld();
              executed[index]!++;
              yield { case: "execute" as const, value: { event: { case: "result" as const, value: { content: `by ${index}` } } } };
            },
            isLast: () => true,
          }),
      }),
  });
}

async function run(): Promise<string | undefined> {
  const call = create(ToolCallSchema, {
    sessionId,
    runId: randomUUID(),
    callId: randomUUID(),
    tool: "read_file",
    argumentsJson: "{}",
    definitionHash: "0".repeat(64),
  });
  for await (const event of sandbox.execute(call, "grant", 10_000, signal)) if ("result" in event) return event.result.content;
  return undefined;
}

it("opens, and streams a run's calls, where the session is", async () => {
  expect(await sandbox.openWorkspace(sessionId, "/at", signal)).toMatchObject({ path: "/at/1" });
  expect([await run(), await run()]).toEqual(["by 1", "by 1"]);
  expect(executed).toEqual([0, 2]);
});

it("follows a session that another replica has taken, each call once", async () => {
  expect(await run()).toBe("by 1");
  holder = 0;
  expect(await run()).toBe("by 0");
  expect(executed).toEqual([1, 1]);
});

it("goes on at the first address when the replica that had the session is gone", async () => {
  expect(await run()).toBe("by 1");
  await servers[1]!.close();
  holder = 0;
  expect(await run()).toBe("by 0");
  expect(executed).toEqual([1, 1]);
});
