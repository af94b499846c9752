import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { setImmediate } from "node:timers/promises";
import { Code, ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@hlvm/proto/grpc/health/v1/health_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { callContext, outgoing, type CallContext, type OutgoingCall } from "./call-context.ts";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { serverStream } from "@hlvm/transport/server-stream";
import { startRpcServer } from "./start-rpc-server.ts";
import { serveSessions, type ServedSessions } from "./testing/serve-sessions.ts";

const SESSION = "00000000-0000-4000-8000-000000000001";

let server: ServedSessions;
let url: string;
let seen: CallContext | undefined;
let watchEnded: Promise<unknown>;

beforeEach(async () => {
  server = await serveSessions({
    listSessions: (_request, context) => {
      seen = callContext(context);
      return { sessions: [] };
    },
    getSession: () => {
      throw new HlvmError({
        code: "not_found",
        reason: "session_not_found",
        message: "There is no such session.",
        advice: "List them.",
      });
    },
    cancelRun: () => {
      throw new Error("password=hunter2");
    },
    watch: async function* (_request, context) {
      watchEnded = once(context.signal, "abort");
      yield {};
      await watchEnded;
    },
  });
  url = server.url;
});

afterEach(() => server.close());

const withToken = () => ({ headers: server.headers });

describe("a server of the mesh", () => {
  it.each(["POST /grpc.health.v1.Health/Check HTTP/1.1\r\nHost: [\r\n\r\n", "POST /grpc.health.v1.Health/Check HTTP/1.0\r\n\r\n"])(
    "outlives a request whose address is none: %j",
    async (request) => {
      const socket = connect(server.port, "127.0.0.1").resume();
      socket.write(request);
      await once(socket, "close");
      const health = createClient(Health, createMeshTransport(url));
      expect((await health.check({})).status).toBe(Status.SERVING);
    },
  );

  it("outlives the same over HTTP/2", async () => {
    const session = connectHttp2(url);
    const stream = session.request({ ":method": "POST", ":path": "/nothing", ":authority": "[" }).on("error", () => undefined);
    stream.resume().end();
    await once(stream, "close");
    session.close();
    expect((await createClient(Health, createMeshTransport(url)).check({})).status).toBe(Status.SERVING);
  });

  it("takes a request that comes byte by byte for what it is", async () => {
    const socket = connect(server.port, "127.0.0.1").setNoDelay().setEncoding("utf8");
    const bytes = "POST /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n";
    for (const byte of bytes) await new Promise<void>((written) => socket.write(byte, () => written()));
    const [answer] = (await once(socket, "data")) as [string];
    expect(answer).toMatch(/^HTTP\/1\.1 404/);
    socket.destroy();
  });

  it("answers Connect over HTTP/1.1, Connect over HTTP/2 and gRPC on one port", async () => {
    const transports = [
      createConnectTransport({ baseUrl: url, httpVersion: "1.1" }),
      createMeshTransport(url),
      createGrpcTransport({ baseUrl: url }),
    ];
    for (const transport of transports)
      expect(await createClient(SessionService, transport).listSessions({}, withToken())).toMatchObject({ sessions: [] });
  });

  it("refuses a call without a token and one with a wrong token, before the handler sees it", async () => {
    const client = createClient(SessionService, createMeshTransport(url));
    seen = undefined;
    await expect(client.listSessions({})).rejects.toMatchObject({ code: Code.Unauthenticated });
    await expect(client.listSessions({}, { headers: { authorization: "Bearer x" } })).rejects.toMatchObject({ code: Code.Unauthenticated });
    expect(seen).toBeUndefined();
  });

  it("answers health checks without a token", async () => {
    const health = createClient(Health, createMeshTransport(url));
    expect((await health.check({ service: SessionService.typeName })).status).toBe(Status.SERVING);
    await expect(health.check({ service: "nobody.Service" })).rejects.toMatchObject({ code: Code.NotFound });
  });

  it("refuses a request that breaks the contract's constraints", async () => {
    const client = createClient(SessionService, createMeshTransport(url));
    await expect(client.getSession({ sessionId: "7" }, withToken())).rejects.toMatchObject({ code: Code.InvalidArgument });
  });

  it("carries principal, trace, deadline and cancellation through a context", async () => {
    const traceId = "0123456789abcdef0123456789abcdef";
    const traced: Interceptor = (next) => (request) => {
      request.header.set("traceparent", `00-${traceId}-0123456789abcdef-01`);
      return next(request);
    };
    const client = createClient(SessionService, createMeshTransport(url, [traced]));
    const context: OutgoingCall = {
      token: server.token,
      signal: new AbortController().signal,
      remainingMilliseconds: () => 5_000,
    };
    await client.listSessions({}, outgoing(context));
    expect(seen).toMatchObject({ principal: testPrincipal, traceId });
    expect(seen!.remainingMilliseconds()).toBeLessThanOrEqual(5_000);
  });

  it("tells our errors with reason and advice, and nothing of unexpected ones", async () => {
    const client = createClient(SessionService, createMeshTransport(url));
    const known = await client.getSession({ sessionId: SESSION }, withToken()).catch(fromConnectError);
    expect(known).toMatchObject({
      code: "not_found",
      reason: "session_not_found",
      message: "There is no such session.",
      advice: "List them.",
    });
    const unknown = await client
      .cancelRun({ sessionId: SESSION, runId: SESSION }, withToken())
      .catch((thrown: unknown) => ConnectError.from(thrown));
    expect(unknown).toMatchObject({ code: Code.Internal });
    expect(String(unknown)).not.toContain("hunter2");
  });

  it("cancels a stream whose reader leaves the loop", async () => {
    const request = { sessionId: SESSION, follow: true };
    for await (const _ of serverStream(createMeshTransport(url), SessionService.method.watch, request, withToken())) break;
    await expect(watchEnded).resolves.toBeDefined();
  });

  it("ends nobody's calls where a caller cancels thousands on the same connection", async () => {
    const transport = createMeshTransport(url);
    const request = { sessionId: SESSION, follow: true };
    const other = createClient(SessionService, transport).watch(request, withToken())[Symbol.asyncIterator]();
    await other.next();
    const left = other.next();
    for (let round = 0; round < 60; round++)
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          for await (const _ of serverStream(transport, SessionService.method.watch, request, withToken())) break;
        }),
      );
    const isOver = await Promise.race([
      left.then(
        () => true,
        () => true,
      ),
      setImmediate(false),
    ]);
    expect(isOver).toBe(false);
    await expect(createClient(SessionService, transport).listSessions({}, withToken())).resolves.toMatchObject({ sessions: [] });
    left.catch(() => undefined);
  });

  it("tells a watcher's handler to end when it closes", async () => {
    const client = createClient(SessionService, createMeshTransport(url));
    const watch = client.watch({ sessionId: SESSION, follow: true }, withToken())[Symbol.asyncIterator]();
    await watch.next();
    const next = watch.next();
    await server.close();
    await expect(watchEnded).resolves.toBeDefined();
    await next;
  });

  it("names the port when it is taken, and what to do", async () => {
    const { verifier } = await createTestIdentity();
    const again = startRpcServer({
      host: "127.0.0.1",
      port: server.port,
      log: testLog,
      services: [],
      authenticate: verifier("orchestrator"),
      routes: () => undefined,
    });
    await expect(again).rejects.toMatchObject({ reason: "port_taken", message: expect.stringContaining(String(server.port)) });
  });
});
