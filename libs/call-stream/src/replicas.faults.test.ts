import { fork, type ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Code, createClient } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { CallStream } from "./call-stream.ts";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { retryInterceptor } from "@hlvm/transport/retry-interceptor";
import { failureOf } from "@hlvm/rpc/testing/failure-of";
import { keepCalling } from "./testing/keep-calling.ts";
import { serveReplica } from "./testing/serve-replica.ts";
import { all, type Calls } from "./testing/streamed-calls.ts";
import type { RpcServer } from "@hlvm/rpc/start-rpc-server";

const PROCESS = fileURLToPath(new URL("testing/replica-process.ts", import.meta.url));
const ENOUGH = 40;
const { minter, tokenKeys } = await createTestIdentity();
const token = minter.mint(testPrincipal, "sandbox");
const headers = { authorization: `Bearer ${token}` };

let servers: RpcServer[];
let processes: ChildProcess[];

beforeEach(() => {
  [servers, processes] = [[], []];
});
afterEach(async () => {
  for (const child of processes) child.kill("SIGKILL");
  await Promise.all(servers.map((server) => server.close()));
});

async function serve(name: string, ageMilliseconds = 60_000): Promise<RpcServer> {
  const server = await serveReplica({ name, port: 0, tokenKeys, cancelMilliseconds: 5, ageMilliseconds });
  servers.push(server);
  return server;
}

async function startProcess(name: string, { port = 0, cancelMilliseconds = 5 } = {}): Promise<{ port: number; child: ChildProcess }> {
  const served = JSON.stringify({ name, port, tokenKeys, cancelMilliseconds, ageMilliseconds: 60_000 });
  const child = fork(PROCESS, [served], { execArgv: [], stdio: ["ignore", "inherit", "inherit", "ipc"] });
  processes.push(child);
  const [listening] = (await once(child, "message")) as [number];
  return { port: listening, child };
}

const listOf = (...ports: number[]): string => `ipv4:${ports.map((port) => `127.0.0.1:${port}`).join(",")}`;

/** The ways of calling a service: which replica answered. */
function callsTo(url: string) {
  const transport = createMeshTransport(url, [retryInterceptor]);
  const sessions = createClient(SessionService, transport);
  const sandbox = createClient(SandboxService, transport);
  const newStream = (): Calls =>
    new CallStream(SandboxService.method.streamCalls, (requests, given, signal) =>
      sandbox.streamCalls(requests, { headers: { authorization: `Bearer ${given}` }, signal, timeoutMs: 0 }),
    );
  const stream = newStream();
  return {
    unary: async () => (await sessions.listSessions({}, { headers })).sessions[0]!.title,
    watched: async () => {
      let name = "";
      for await (const { events } of sessions.watch({ sessionId: crypto.randomUUID() }, { headers })) name = events[0]!.sessionId;
      return name;
    },
    once: () => sessions.cancelRun({ sessionId: crypto.randomUUID(), runId: crypto.randomUUID() }, { headers }),
    streamed: async (calls: Calls = stream) => (await all(calls, "one", { token }))[0]!,
    newStream,
  };
}

type Way = "unary" | "watched" | "streamed";
const WAYS: readonly Way[] = ["unary", "watched", "streamed"];

describe("calls to two replicas", () => {
  it("are spread over both, whatever their kind", async () => {
    const calls = callsTo(listOf((await serve("a")).port, (await serve("b")).port));
    await expect.poll(async () => new Set([await calls.unary(), await calls.unary()]).size).toBe(2);
    const spread = async (call: () => Promise<string>): Promise<number> => {
      const names: string[] = [];
      for (let index = 0; index < ENOUGH; index++) names.push(await call());
      return names.filter((name) => name === "a").length;
    };
    expect(await spread(calls.unary)).toBe(ENOUGH / 2);
    expect(await spread(calls.watched)).toBe(ENOUGH / 2);
    expect(await spread(() => calls.streamed(calls.newStream()))).toBe(ENOUGH / 2);
  });

  it.each(WAYS)("do not fail where one of the two closes, and go to the other: %s", async (way) => {
    const [a, b] = [await serve("a"), await serve("b")];
    const calls = callsTo(listOf(a.port, b.port));
    const calling = keepCalling(() => calls[way]());
    await expect.poll(() => total(calling.answers)).toBeGreaterThan(ENOUGH);
    await a.close();
    const before = new Map(calling.answers);
    await expect.poll(() => calling.answers.get("b")! - (before.get("b") ?? 0)).toBeGreaterThan(ENOUGH);
    await calling.stop();
    expect(calling.failures).toEqual([]);
    expect(calling.answers.get("a")).toBe(before.get("a"));
  });

  it("that may be made twice do not fail where one of the two is killed, and take it again when it is back", async () => {
    const [a, b] = [await startProcess("a"), await startProcess("b")];
    const calls = callsTo(listOf(a.port, b.port));
    const calling = keepCalling(calls.unary);
    await expect.poll(() => Math.min(calling.answers.get("a") ?? 0, calling.answers.get("b") ?? 0)).toBeGreaterThan(ENOUGH);
    a.child.kill("SIGKILL");
    await once(a.child, "exit");
    const before = new Map(calling.answers);
    await expect.poll(() => calling.answers.get("b")! - before.get("b")!).toBeGreaterThan(ENOUGH);
    await startProcess("again", { port: a.port });
    await expect.poll(() => calling.answers.get("again") ?? 0, { timeout: 10_000 }).toBeGreaterThan(ENOUGH);
    await calling.stop();
    expect(calling.failures).toEqual([]);
  });

  it("that may not be made twice fail as unavailable with the replica that is killed, and the next ones succeed", async () => {
    const a = await startProcess("a", { cancelMilliseconds: 60_000 });
    const calls = callsTo(listOf(a.port, (await serve("b")).port));
    await expect.poll(async () => new Set([await calls.unary(), await calls.unary()]).size).toBe(2);
    const underWay = Array.from({ length: 4 }, () => calls.once().catch((thrown: unknown) => thrown));
    const answered = await Promise.race(underWay);
    expect(answered).not.toBeInstanceOf(Error);
    a.child.kill("SIGKILL");
    const failed = (await Promise.all(underWay)).filter((result) => result instanceof Error);
    expect(failed).toHaveLength(2);
    expect(failed).toMatchObject([{ code: Code.Unavailable }, { code: Code.Unavailable }]);
    for (let index = 0; index < ENOUGH; index++) await calls.once();
  });

  it("on a stream go on with the other replica where theirs is killed", async () => {
    const [a, b] = [await startProcess("a"), await startProcess("b")];
    const calls = callsTo(listOf(a.port, b.port));
    const first = await calls.streamed();
    expect(await calls.streamed()).toBe(first);
    (first === "a" ? a : b).child.kill("SIGKILL");
    await once((first === "a" ? a : b).child, "exit");
    await vi.waitUntil(async () => (await calls.streamed().catch(failedAsUnavailable)) === (first === "a" ? "b" : "a"));
  });
});

describe.each([
  { transport: "connect-node", urlOf: ([a]: number[]) => `http://127.0.0.1:${a}` },
  { transport: "grpc-js", urlOf: (ports: number[]) => listOf(...ports) },
])("a server that ends old connections, over $transport", ({ urlOf }) => {
  it.each(WAYS)("lets no call fail: %s", { timeout: 20_000 }, async (way) => {
    const ports = [(await serve("a", 200)).port, (await serve("b", 200)).port];
    const calls = callsTo(urlOf(ports));
    const calling = keepCalling(() => calls[way]());
    await connectionsAccepted(5);
    await expect.poll(() => total(calling.answers)).toBeGreaterThan(ENOUGH);
    await calling.stop();
    expect(calling.failures).toEqual([]);
  });
});

it("fails as unavailable where no replica takes a connection, and tries no further than the deadline", async () => {
  const gone = await serve("gone");
  await gone.close();
  const sessions = createClient(SessionService, createMeshTransport(listOf(gone.port), [retryInterceptor]));
  const began = performance.now();
  const failure = await failureOf(sessions.listSessions({}, { headers, timeoutMs: 500 }));
  expect([Code.Unavailable, Code.DeadlineExceeded]).toContain(failure.code);
  expect(performance.now() - began).toBeLessThan(5_000);
});

/** Resolves when servers of this process have accepted so many more. */
function connectionsAccepted(count: number): Promise<void> {
  return new Promise((resolve) => {
    let accepted = 0;
    const see = (): void => {
      if (++accepted < count) return;
      unsubscribe("net.server.socket", see);
      resolve();
    };
    subscribe("net.server.socket", see);
  });
}

function total(answers: ReadonlyMap<string, number>): number {
  return [...answers.values()].reduce((sum, count) => sum + count, 0);
}

function failedAsUnavailable(thrown: unknown): string {
  expect(thrown).toMatchObject({ code: Code.Unavailable });
  return "";
}
