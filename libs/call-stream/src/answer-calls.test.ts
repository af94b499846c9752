import { once } from "node:events";
import { setImmediate as nextTick } from "node:timers/promises";
import { Code, createClient, type HandlerContext } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { contextOfTraceparent, currentTraceId } from "@hlvm/telemetry/trace-context";
import { context as traceContext } from "@opentelemetry/api";
import { answerCalls } from "./answer-calls.ts";
import { callContext } from "@hlvm/rpc/call-context";
import { CallStream } from "./call-stream.ts";
import type { CallLimits } from "./open-stream.ts";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { failureOf } from "@hlvm/rpc/testing/failure-of";
import { all as allOf, isLast, requestOf, type Calls } from "./testing/streamed-calls.ts";

type Answer = (callId: string, context: HandlerContext) => AsyncIterable<string>;

const { minter, verifier } = await createTestIdentity();
const token = minter.mint(testPrincipal, "sandbox");
let answer: Answer;
let servers: RpcServer[];

/** A server whose calls are answered by `answer`: pieces of output, and then a result. */
async function serve(port = 0): Promise<RpcServer> {
  const server = await startRpcServer({
    host: "127.0.0.1",
    port,
    log: testLog,
    services: [],
    authenticate: verifier("sandbox"),
    routes: (router) =>
      router.service(SandboxService, {
        streamCalls: (requests, stream) =>
          answerCalls(requests, stream, {
            async *answer(request, context) {
              const { callId } = (request.value as { call: { callId: string } }).call;
              for await (const text of answer(callId, context))
                yield { case: "execute" as const, value: { event: { case: "output" as const, value: { text } } } };
              yield { case: "execute" as const, value: { event: { case: "result" as const, value: { content: callId } } } };
            },
            isLast: ({ value }) => value.event.case === "result",
            joins: true,
          }),
      }),
  });
  servers.push(server);
  return server;
}

function callsTo(...ports: number[]): Calls {
  const clients = ports.map((port) => createClient(SandboxService, createMeshTransport(`http://127.0.0.1:${port}`)));
  let opened = 0;
  return new CallStream(SandboxService.method.streamCalls, (requests, given, signal) => {
    const client = clients[Math.min(opened++, clients.length - 1)]!;
    return client.streamCalls(requests, { headers: { authorization: `Bearer ${given}` }, signal, timeoutMs: 0 });
  });
}

const all = (calls: Calls, callId: string, limits: Partial<CallLimits> = {}): Promise<string[]> =>
  allOf(calls, callId, { token, ...limits });

beforeEach(() => {
  servers = [];
  answer = async function* () {};
});
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()));
});

describe("calls on a stream", () => {
  it("have each the trace of the call, not that of the one which opened the stream", async () => {
    const calls = callsTo((await serve()).port);
    answer = async function* (_, context) {
      yield currentTraceId();
      await nextTick();
      yield `${callContext(context).traceId} ${currentTraceId()}`;
    };
    const traces = ["0af7651916cd43dd8448eb211c80319c", "4bf92f3577b34da6a3ce929d0e0e4736"];
    const call = (traceId: string): Promise<string[]> =>
      traceContext.with(contextOfTraceparent(`00-${traceId}-b7ad6b7169203331-01`), () => all(calls, traceId));
    await Promise.all(traces.map(async (traceId) => expect(await call(traceId)).toEqual([traceId, `${traceId} ${traceId}`, traceId])));
  });

  it("run side by side, each with its own responses", async () => {
    const calls = callsTo((await serve()).port);
    const [oneBegun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    answer = async function* (callId) {
      yield `${callId} begins`;
      if (callId === "one") {
        oneBegun.resolve();
        await go.promise;
      }
    };
    const one = all(calls, "one");
    await oneBegun.promise;
    expect(await all(calls, "two")).toEqual(["two begins", "two"]);
    go.resolve();
    expect(await one).toEqual(["one begins", "one"]);
  });

  it("fail by themselves: with their handler's reason and advice, as an invalid request, without a good token", async () => {
    const calls = callsTo((await serve()).port);
    answer = async function* (callId) {
      if (callId === "bad") throw new HlvmError({ code: "not_found", reason: "gone", message: "It is gone.", advice: "Open it." });
      yield "fine";
    };
    const other = all(calls, "good");
    expect(fromConnectError(await failureOf(all(calls, "bad")))).toMatchObject({
      reason: "gone",
      message: "It is gone.",
      advice: "Open it.",
    });
    expect(await failureOf(all(calls, "x".repeat(129)))).toMatchObject({ code: Code.InvalidArgument });
    expect(await failureOf(all(calls, "forged", { token: `${token}x` }))).toMatchObject({ code: Code.Unauthenticated });
    expect(await other).toEqual(["fine", "good"]);
    expect(await all(calls, "again")).toEqual(["fine", "again"]);
  });

  it("are each made by who their token names", async () => {
    const calls = callsTo((await serve()).port);
    answer = async function* (_callId, context) {
      yield callContext(context).principal.id;
    };
    const other = minter.mint({ ...testPrincipal, id: "somebody-else" }, "sandbox");
    expect((await all(calls, "1"))[0]).toBe(testPrincipal.id);
    expect((await all(calls, "2", { token: other }))[0]).toBe("somebody-else");
    expect((await all(calls, "3"))[0]).toBe(testPrincipal.id);
  });

  it("end when their caller leaves or cancels, and the others go on", async () => {
    const calls = callsTo((await serve()).port);
    const ended: Promise<unknown>[] = [];
    answer = async function* (callId, { signal }) {
      if (callId === "stays") return;
      ended.push(once(signal, "abort"));
      yield "begun";
      await once(signal, "abort");
      throw signal.reason;
    };
    for await (const _ of calls.call(requestOf("left"), { token, timeoutMilliseconds: 5_000 }, isLast)) break;
    await ended[0];
    const cancel = new AbortController();
    const cancelled = failureOf(all(calls, "cancelled", { signal: cancel.signal }));
    await expect.poll(() => ended.length).toBe(2);
    cancel.abort();
    expect((await cancelled).code).toBe(Code.Canceled);
    await ended[1];
    expect(await all(calls, "stays")).toEqual(["stays"]);
  });

  it("end at their deadline on both sides, also where a handler does not listen", async () => {
    const calls = callsTo((await serve()).port);
    let aborted: Promise<unknown> | undefined;
    answer = async function* (callId, { signal }) {
      if (callId === "next") return;
      aborted = once(signal, "abort");
      yield "begun";
      await new Promise(() => undefined);
    };
    expect((await failureOf(all(calls, "slow", { timeoutMilliseconds: 100 }))).code).toBe(Code.DeadlineExceeded);
    await aborted;
    expect(await all(calls, "next")).toEqual(["next"]);
  });

  it("have a deadline that lies weeks ahead, and do not end at once for it", async () => {
    const calls = callsTo((await serve()).port);
    answer = async function* () {
      await new Promise((resolve) => setTimeout(resolve, 50));
      yield "in time";
    };
    expect(await all(calls, "patient", { timeoutMilliseconds: 0xffff_ffff })).toEqual(["in time", "patient"]);
  });

  it("write no further than their reader reads", async () => {
    const calls = callsTo((await serve()).port);
    let written = 0;
    const piece = "x".repeat(64 * 1024);
    answer = async function* (callId) {
      if (callId !== "much") return;
      while (written < 400) {
        written++;
        yield piece;
      }
    };
    const responses = calls.call(requestOf("much"), { token, timeoutMilliseconds: 30_000 }, isLast);
    await responses.next();
    for (let probe = 0; probe < 10; probe++) await all(callsTo(servers[0]!.port), "probe");
    expect(written).toBeLessThan(300);
    let count = 1;
    for await (const _ of responses) count++;
    expect([written, count]).toEqual([400, 401]);
  });

  it("all fail as unavailable when their service dies", async () => {
    const server = await serve();
    const calls = callsTo(server.port);
    answer = async function* (_callId, { signal }) {
      yield "begun";
      await once(signal, "abort");
      throw signal.reason;
    };
    const failures = Promise.all(["1", "2"].map((callId) => failureOf(all(calls, callId))));
    await expect.poll(() => servers.length).toBe(1);
    await server.close();
    for (const { code } of await failures) expect([Code.Unavailable, Code.Canceled]).toContain(code);
  });
});

describe("a service that nobody reaches", () => {
  it("is tried again until it is there: a refused connection has started nothing", async () => {
    const first = await serve();
    const calls = callsTo(first.port);
    await all(calls, "before");
    await first.close();
    const call = all(calls, "meanwhile");
    servers.push(await serve(first.port));
    expect(await call).toEqual(["meanwhile"]);
  });

  it("is given up at the call's deadline, or when its caller cancels", async () => {
    const gone = await serve();
    await gone.close();
    expect((await failureOf(all(callsTo(gone.port), "late", { timeoutMilliseconds: 200 }))).code).toBe(Code.Unavailable);
    const cancel = new AbortController();
    const cancelled = failureOf(all(callsTo(gone.port), "cancelled", { signal: cancel.signal }));
    cancel.abort();
    expect((await cancelled).code).toBe(Code.Canceled);
  });
});

describe("a service that is draining", () => {
  it("finishes the calls under way, and the next ones go elsewhere", async () => {
    const [first, second] = [await serve(), await serve()];
    const calls = callsTo(first.port, second.port);
    const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    answer = async function* (callId) {
      if (callId !== "under way") return;
      begun.resolve();
      await go.promise;
      yield "finished";
    };
    const underWay = all(calls, "under way");
    await begun.promise;
    const closing = first.close();
    expect(await all(calls, "next")).toEqual(["next"]);
    go.resolve();
    expect(await underWay).toEqual(["finished", "under way"]);
    await closing;
  });

  it("is not held up by a stream without calls", async () => {
    const server = await serve();
    await all(callsTo(server.port), "one");
    // The grace for what is under way would never be over.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    await expect(server.close()).resolves.toBeUndefined();
  });
});
