import { once } from "node:events";
import { constants, createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { Code, createClient, type Client, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createMeshTransport } from "./create-mesh-transport.ts";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { retryInterceptor } from "./retry-interceptor.ts";
import { serverStream } from "./server-stream.ts";
import { countOf } from "./testing/count-of.ts";
import { failureOf } from "@hlvm/rpc/testing/failure-of";
import { serveSessions, type ServedSessions } from "@hlvm/rpc/testing/serve-sessions";

const SESSION = "00000000-0000-4000-8000-000000000001";
const RUN = "00000000-0000-4000-8000-000000000002";
const LARGE = 5 * 1024 * 1024;
const OVER_THE_LIMIT = 17 * 1024 * 1024;
/** How large a title to answer where that many sessions are asked for. */
const SIZES: Readonly<Record<number, number>> = { 400: LARGE, 500: OVER_THE_LIMIT };

/** The two transports, by the URL that chooses each for the same server. */
const TRANSPORTS = [
  { transport: "connect-node", urlOf: (url: string) => url },
  { transport: "grpc-js", urlOf: (url: string) => url.replace("http://", "ipv4:") },
];

let context: HandlerContext | undefined;
let sent = 0;
let left: Promise<unknown>;
let started: PromiseWithResolvers<void>;
let served: ServedSessions;
let client: Client<typeof SessionService>;

const methods: Partial<ServiceImpl<typeof SessionService>> = {
  listSessions: ({ limit }, given) => {
    context = given;
    return { sessions: [{ sessionId: SESSION, title: "x".repeat(SIZES[limit] ?? 1), lastSequence: BigInt(limit) }] };
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
    left = once(given.signal, "abort");
    for (sent = 0; BigInt(sent) < fromSequence; sent++) yield { events: [{ sessionId: String(sent).padStart(LARGE / 50, "0") }] };
    if (follow) await left;
    else throw new HlvmError({ code: "failed_precondition", reason: "log_ended", message: "That was all.", advice: "Follow." });
  },
};

beforeEach(async () => {
  started = Promise.withResolvers();
  served = await serveSessions(methods);
});
afterEach(() => served.close());

const withToken = () => ({ headers: served.headers });

type Act = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/** A peer that speaks HTTP/2 and does with each stream what it is told. */
async function peerThat(...acts: Act[]): Promise<{ url: string; streams: () => number }> {
  let streams = 0;
  const server = createServer();
  server.on("stream", (stream, headers) => {
    stream.on("error", () => undefined);
    acts[Math.min(streams++, acts.length - 1)]!(stream as ServerHttp2Stream, headers);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, streams: () => streams };
}

/** In the protocol of the call, with no message at all where it streams. */
const answerEmpty = (isStream: boolean) => (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
  if (headers["content-type"] !== "application/grpc") {
    stream.respond({ ":status": 200, "content-type": isStream ? "application/connect+proto" : "application/proto" });
    stream.end(isStream ? Buffer.from([2, 0, 0, 0, 2, 0x7b, 0x7d]) : undefined);
    return;
  }
  stream.respond({ ":status": 200, "content-type": "application/grpc+proto" }, { waitForTrailers: true });
  stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(isStream ? undefined : Buffer.alloc(5));
};

describe.each(TRANSPORTS)("a call to another service, over $transport", ({ urlOf }) => {
  beforeEach(() => {
    client = createClient(SessionService, createMeshTransport(urlOf(served.url)));
  });

  it("comes with its deadline, 30 s where it has none", async () => {
    await client.listSessions({}, { ...withToken(), timeoutMs: 5_000 });
    expect(context!.timeoutMs()).toBeLessThanOrEqual(5_000);
    await client.listSessions({}, withToken());
    expect(context!.timeoutMs()).toBeGreaterThan(25_000);
    expect(context!.timeoutMs()).toBeLessThanOrEqual(30_000);
  });

  it("fails with the service's reason and advice, in its answer and in its stream", async () => {
    const unary = await failureOf(client.getSession({ sessionId: SESSION }, withToken()));
    expect(fromConnectError(unary)).toMatchObject({ code: "not_found", reason: "session_not_found", advice: "List them." });
    const stream = await failureOf(countOf(client.watch({ sessionId: SESSION, fromSequence: 3n }, withToken())));
    expect(sent).toBe(3);
    expect(fromConnectError(stream)).toMatchObject({ code: "failed_precondition", reason: "log_ended", advice: "Follow." });
  });

  it("ends at its deadline, on both sides", async () => {
    const limits = { ...withToken(), timeoutMs: 100 };
    expect((await failureOf(client.cancelRun({ sessionId: SESSION, runId: RUN }, limits))).code).toBe(Code.DeadlineExceeded);
    await left;
    expect((await failureOf(countOf(client.watch({ sessionId: SESSION, follow: true }, limits)))).code).toBe(Code.DeadlineExceeded);
    await left;
  });

  it("that is cancelled is told as cancelled, and to its handler", async () => {
    const cancelled = new AbortController();
    const call = failureOf(client.cancelRun({ sessionId: SESSION, runId: RUN }, { ...withToken(), signal: cancelled.signal }));
    await started.promise;
    cancelled.abort();
    expect((await call).code).toBe(Code.Canceled);
    await left;
    expect((await failureOf(client.listSessions({}, { signal: cancelled.signal }))).code).toBe(Code.Canceled);
  });

  it("that streams ends when its reader leaves", async () => {
    const request = { sessionId: SESSION, fromSequence: 1n, follow: true };
    const transport = createMeshTransport(urlOf(served.url));
    for await (const _ of serverStream(transport, SessionService.method.watch, request, withToken())) break;
    expect(await left).toMatchObject([{ type: "abort" }]);
  });

  it("lets a service write no further than a slow reader reads, and loses nothing", async () => {
    const messages = client.watch({ sessionId: SESSION, fromSequence: 80n, follow: true }, withToken())[Symbol.asyncIterator]();
    for (let index = 0; index < 80; index++) {
      expect(Number((await messages.next()).value!.events[0]!.sessionId)).toBe(index);
      expect(sent - index).toBeLessThan(45);
    }
  });

  it("carries large messages both ways, and refuses what is over the limit", async () => {
    expect((await client.listSessions({ limit: 400 }, withToken())).sessions[0]!.title).toHaveLength(LARGE);
    expect((await failureOf(client.listSessions({ limit: 500 }, withToken()))).code).toBe(Code.ResourceExhausted);
    const tooLarge = { sessionId: "x".repeat(OVER_THE_LIMIT) };
    expect((await failureOf(client.getSession(tooLarge, withToken()))).code).toBe(Code.ResourceExhausted);
    expect((await client.listSessions({}, withToken())).sessions).toHaveLength(1);
  });

  it("is one of a hundred at a time, with one signal", async () => {
    const { signal } = new AbortController();
    const calls = Array.from({ length: 100 }, (_, limit) => client.listSessions({ limit }, { ...withToken(), signal }));
    const found = (await Promise.all(calls)).map(({ sessions }) => Number(sessions[0]!.lastSequence));
    expect(found).toEqual(Array.from({ length: 100 }, (_, index) => index));
  });
});

describe.each(TRANSPORTS)("a connection that is lost, over $transport", ({ urlOf }) => {
  it.each(["reset", "destroyed session"])("is told as unavailable: %s", async (how) => {
    const { url } = await peerThat((stream) => {
      if (how === "reset") stream.close(constants.NGHTTP2_CANCEL);
      else stream.session!.destroy();
    });
    const other = createClient(SessionService, createMeshTransport(urlOf(url)));
    expect((await failureOf(other.listSessions({}))).code).toBe(Code.Unavailable);
    expect((await failureOf(countOf(other.watch({ sessionId: SESSION })))).code).toBe(Code.Unavailable);
  });

  it("is told as unavailable where nobody listens", async () => {
    const gone = await serveSessions({});
    await gone.close();
    const other = createClient(SessionService, createMeshTransport(urlOf(gone.url)));
    expect((await failureOf(other.listSessions({}))).code).toBe(Code.Unavailable);
  });
});

describe.each(TRANSPORTS)("a call that its service refused before it began, over $transport", ({ transport, urlOf }) => {
  const refuse = (stream: ServerHttp2Stream): void => stream.close(constants.NGHTTP2_REFUSED_STREAM);

  it("is made once more", async () => {
    const { url, streams } = await peerThat(refuse, answerEmpty(false));
    expect((await createClient(SessionService, createMeshTransport(urlOf(url))).listSessions({})).sessions).toEqual([]);
    expect(streams()).toBe(2);
  });

  it("is made once more where it streams", async () => {
    const { url, streams } = await peerThat(refuse, answerEmpty(true));
    expect(await countOf(createClient(SessionService, createMeshTransport(urlOf(url))).watch({ sessionId: SESSION }))).toBe(0);
    expect(streams()).toBe(2);
  });

  it("is told by the connection, and not by what a service says of a failure", async () => {
    let calls = 0;
    const { url, headers, close } = await serveSessions({
      listSessions: () => {
        calls++;
        throw new HlvmError({ code: "unavailable", reason: "model", message: "The model said REFUSED_STREAM and ECONNREFUSED." });
      },
    });
    onTestFinished(close);
    const other = createClient(SessionService, createMeshTransport(urlOf(url), [retryInterceptor]));
    expect((await failureOf(other.listSessions({}, { headers, timeoutMs: 2_000 }))).code).toBe(Code.Unavailable);
    expect(calls).toBe(1);
  });

  it("is made once more by each of those who make it, and not again", async () => {
    const { url, streams } = await peerThat(refuse);
    const other = createClient(SessionService, createMeshTransport(urlOf(url)));
    expect((await failureOf(other.cancelRun({}))).code).toBe(Code.Unavailable);
    // grpc-js repeats it, and our interceptor repeats that.
    expect(streams()).toBe(transport === "grpc-js" ? 4 : 2);
  });
});

describe("a call whose connection is lost before its answer, over grpc-js", () => {
  const loseConnection = (stream: ServerHttp2Stream): void => stream.session!.destroy();

  it("is made again where its contract says that it may be, and only there", async () => {
    const { url, streams } = await peerThat(loseConnection, answerEmpty(false), loseConnection, answerEmpty(false));
    const other = createClient(SessionService, createMeshTransport(url.replace("http://", "ipv4:")));
    await other.getSession({ sessionId: SESSION });
    expect(streams()).toBe(2);
    expect((await failureOf(other.cancelRun({ sessionId: SESSION, runId: RUN }))).code).toBe(Code.Unavailable);
    expect(streams()).toBe(3);
  });

  it("is made once more also where the answer had begun, by a caller that repeats, and only there", async () => {
    const loseAnswer = (stream: ServerHttp2Stream): void => {
      stream.respond({ ":status": 200, "content-type": "application/grpc+proto" });
      // The headers have to be seen before the connection is lost.
      setTimeout(() => stream.session!.destroy(), 50);
    };
    const { url, streams } = await peerThat(loseAnswer, answerEmpty(false), loseAnswer, loseAnswer, loseAnswer, answerEmpty(false));
    const other = createClient(SessionService, createMeshTransport(url.replace("http://", "ipv4:"), [retryInterceptor]));
    await other.getSession({ sessionId: SESSION });
    expect(streams()).toBe(2);
    expect((await failureOf(other.getSession({ sessionId: SESSION }))).code).toBe(Code.Unavailable);
    expect(streams()).toBe(4);
    expect((await failureOf(other.cancelRun({ sessionId: SESSION, runId: RUN }))).code).toBe(Code.Unavailable);
    expect(streams()).toBe(5);
  });
});
