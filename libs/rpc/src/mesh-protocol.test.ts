import { once } from "node:events";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { Code, ConnectError, createClient, type Client, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { connectNodeAdapter, createConnectTransport } from "@connectrpc/connect-node";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { SessionService, type WatchResponse } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { testLog } from "@hlvm/testing/test-log";
import { createDoorTransport } from "./create-door-transport.ts";
import { createMeshTransport } from "./create-mesh-transport.ts";
import { errorInterceptor } from "./error-interceptor.ts";
import { fromConnectError } from "./from-connect-error.ts";
import { readStream } from "./read-stream.ts";
import { CallHandling } from "./server/call-handling.ts";
import { serveSessions } from "./testing/serve-sessions.ts";

const SESSION = "00000000-0000-4000-8000-000000000001";
const RUN = "00000000-0000-4000-8000-000000000002";
const LARGE = 5 * 1024 * 1024;
const OVER_THE_LIMIT = 17 * 1024 * 1024;
/** How large a title to answer where that many sessions are asked for. */
const SIZES: Readonly<Record<number, number>> = { 400: LARGE, 500: OVER_THE_LIMIT };

interface Served {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
}

let context: HandlerContext | undefined;
let sent = 0;
let left: Promise<unknown>;
let started: PromiseWithResolvers<void>;

const methods: Partial<ServiceImpl<typeof SessionService>> = {
  listSessions: ({ limit }, given) => {
    context = given;
    given.responseHeader.set("x-header", "one");
    given.responseTrailer.set("x-trailer", "two");
    return {
      sessions: [
        { sessionId: SESSION, title: given.requestHeader.get("x-title") ?? "x".repeat(SIZES[limit] ?? 0), lastSequence: BigInt(limit) },
      ],
    };
  },
  getSession: () => {
    throw new HlvmError({ code: "not_found", reason: "session_not_found", message: "There is no such session.", advice: "List them." });
  },
  cancelRun: async (_request, given) => {
    left = once(given.signal, "abort");
    started.resolve();
    await left;
    throw given.signal.reason;
  },
  watch: async function* ({ fromSequence, follow }, given) {
    context = given;
    left = once(given.signal, "abort");
    given.responseHeader.set("x-header", "one");
    for (sent = 0; BigInt(sent) < fromSequence; sent++) yield { events: [{ sessionId: String(sent).padStart(LARGE / 50, "0") }] };
    given.responseTrailer.set("x-trailer", "two");
    if (follow) await left;
    else throw new HlvmError({ code: "failed_precondition", reason: "log_ended", message: "That was all.", advice: "Follow." });
  },
};

async function serveWithConnect(): Promise<Served> {
  const server = createServer(
    connectNodeAdapter({
      routes: (router) => router.service(SessionService, methods),
      interceptors: [errorInterceptor(testLog)],
      readMaxBytes: 16 * 1024 * 1024,
    }),
  );
  const sockets = new Set<{ destroy: () => void }>();
  server.on("connection", (socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async (): Promise<void> => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, headers: {}, close };
}

const serveOurs = () => serveSessions(methods);

const mesh = (url: string): Client<typeof SessionService> => createClient(SessionService, createMeshTransport(url));
const door = (url: string): Client<typeof SessionService> => createClient(SessionService, createDoorTransport(url, []));
const stock = (url: string): Client<typeof SessionService> =>
  createClient(
    SessionService,
    createConnectTransport({
      baseUrl: url,
      httpVersion: "2",
      useBinaryFormat: true,
      acceptCompression: [],
      readMaxBytes: 16 * 1024 * 1024,
    }),
  );
const failure = (promise: Promise<unknown>): Promise<ConnectError> =>
  promise.then(
    () => expect.unreachable("it should have failed"),
    (thrown: unknown) => ConnectError.from(thrown),
  );

async function all(messages: AsyncIterable<WatchResponse>): Promise<WatchResponse[]> {
  const found: WatchResponse[] = [];
  for await (const message of messages) found.push(message);
  return found;
}

const PAIRS = [
  { pair: "a service, our server", connect: mesh, serve: serveOurs, answersHeaders: false },
  { pair: "our client at the door, our server", connect: door, serve: serveOurs, answersHeaders: true },
  { pair: "our client at the door, Connect's server", connect: door, serve: serveWithConnect, answersHeaders: true },
  { pair: "Connect's client, our server", connect: stock, serve: serveOurs, answersHeaders: true },
];

describe.each(PAIRS)("$pair", ({ connect, serve, answersHeaders }) => {
  let served: Served;
  let client: Client<typeof SessionService>;

  beforeEach(async () => {
    context = undefined;
    started = Promise.withResolvers();
    served = await serve();
    client = connect(served.url);
  });
  afterEach(() => served.close());

  it("carries a unary call with its headers, trailers and deadline", async () => {
    let header: Headers | undefined;
    let trailer: Headers | undefined;
    const { sessions } = await client.listSessions(
      { limit: 7 },
      {
        headers: { ...served.headers, "X-Title": "a title" },
        timeoutMs: 5_000,
        onHeader: (given) => (header = given),
        onTrailer: (given) => (trailer = given),
      },
    );
    expect(sessions).toMatchObject([{ sessionId: SESSION, title: "a title", lastSequence: 7n }]);
    expect([header?.get("x-header"), trailer?.get("x-trailer"), header?.get("trailer-x-trailer")]).toEqual(
      answersHeaders ? ["one", "two", null] : [null, null, null],
    );
    expect(context!.timeoutMs()).toBeLessThanOrEqual(5_000);
    expect(context!.url).toBe(`${served.url}/hlvm.session.v1.SessionService/ListSessions`);
    expect(context!.signal.aborted).toBe(true);
    expect(context instanceof CallHandling).toBe(connect === mesh);
  });

  it("carries a stream with its headers, and the error at its end with its details", async () => {
    let header: Headers | undefined;
    const found: WatchResponse[] = [];
    const reading = (async () => {
      const options = { headers: served.headers, onHeader: (given: Headers) => (header = given) };
      for await (const message of client.watch({ sessionId: SESSION, fromSequence: 3n }, options)) found.push(message);
    })();
    expect(fromConnectError(await failure(reading))).toMatchObject({
      code: "failed_precondition",
      reason: "log_ended",
      message: "That was all.",
      advice: "Follow.",
    });
    expect(found.map(({ events }) => Number(events[0]!.sessionId))).toEqual([0, 1, 2]);
    expect(header?.get("x-header")).toBe(answersHeaders ? "one" : null);
    expect(context instanceof CallHandling).toBe(connect === mesh);
  });

  it("carries an error of a unary call with its details", async () => {
    const error = await failure(client.getSession({ sessionId: SESSION }, { headers: served.headers }));
    expect(fromConnectError(error)).toMatchObject({
      code: "not_found",
      reason: "session_not_found",
      message: "There is no such session.",
      advice: "List them.",
    });
  });

  it("ends a call at its deadline, on both sides", async () => {
    const error = await failure(client.cancelRun({ sessionId: SESSION, runId: RUN }, { headers: served.headers, timeoutMs: 100 }));
    expect(error.code).toBe(Code.DeadlineExceeded);
    await left;
    const stream = client.watch({ sessionId: SESSION, follow: true }, { headers: served.headers, timeoutMs: 100 });
    expect(await failure(all(stream))).toMatchObject({ code: Code.DeadlineExceeded });
    await left;
  });

  it("tells the handler that its caller cancelled", async () => {
    const leaving = new AbortController();
    const call = failure(client.cancelRun({ sessionId: SESSION, runId: RUN }, { headers: served.headers, signal: leaving.signal }));
    await started.promise;
    leaving.abort();
    expect((await call).code).toBe(Code.Canceled);
    await left;
    expect((await failure(client.listSessions({}, { signal: leaving.signal }))).code).toBe(Code.Canceled);
  });

  it("tells the handler of a stream that its reader left", async () => {
    const request = { sessionId: SESSION, fromSequence: 1n, follow: true };
    for await (const _ of readStream((signal) => client.watch(request, { headers: served.headers, signal }))) break;
    expect(await left).toMatchObject([{ type: "abort" }]);
  });

  it("lets a server write no further than a slow reader reads, and loses nothing", async () => {
    const messages = client
      .watch({ sessionId: SESSION, fromSequence: 60n, follow: true }, { headers: served.headers })
      [Symbol.asyncIterator]();
    for (let index = 0; index < 60; index++) {
      expect(Number((await messages.next()).value!.events[0]!.sessionId)).toBe(index);
      expect(sent - index).toBeLessThan(30);
    }
  });

  it("carries large messages both ways, and refuses what is over the limit", async () => {
    // Connect's adapter prints that it could not write all of an answer that its caller refuses.
    const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
    onTestFinished(() => printed.mockRestore());
    expect((await client.listSessions({ limit: 400 }, { headers: served.headers })).sessions[0]!.title).toHaveLength(LARGE);
    // Connect's client leaves the answer that it refuses lying in the connection: it gets one of its own for that.
    expect(await failure(connect(served.url).listSessions({ limit: 500 }, { headers: served.headers }))).toMatchObject({
      code: Code.ResourceExhausted,
    });
    const large = "x".repeat(LARGE);
    const error = await failure(client.getSession({ sessionId: large }, { headers: served.headers }));
    expect(error.code).toBe(serve === serveOurs ? Code.InvalidArgument : Code.NotFound);
    expect(await failure(client.getSession({ sessionId: "x".repeat(OVER_THE_LIMIT) }, { headers: served.headers }))).toMatchObject({
      code: Code.ResourceExhausted,
    });
    expect((await client.listSessions({}, { headers: served.headers })).sessions).toHaveLength(1);
  });

  it("carries a hundred calls at a time, with one signal", async () => {
    const { signal } = new AbortController();
    const calls = Array.from({ length: 100 }, (_, limit) => client.listSessions({ limit }, { headers: served.headers, signal }));
    const found = (await Promise.all(calls)).map(({ sessions }) => Number(sessions[0]!.lastSequence));
    expect(found).toEqual(Array.from({ length: 100 }, (_, index) => index));
  });
});
