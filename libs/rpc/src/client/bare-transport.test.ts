import { once } from "node:events";
import { constants, createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { createServer as createSocketServer, type AddressInfo, type Server, type Socket } from "node:net";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { bareTransport } from "./bare-transport.ts";

const END_STREAM = 2;

let server: Http2Server | Server | undefined;
const sessions = new Set<ServerHttp2Session>();

/** A peer that does with every call what the test wants. */
async function peer(answer: (stream: ServerHttp2Stream) => void, port = 0): Promise<number> {
  const created = createServer();
  created.on("stream", (stream) => {
    stream.on("error", () => undefined);
    answer(stream as ServerHttp2Stream);
  });
  created.on("session", (session) => sessions.add(session));
  return listening(created, port);
}

async function listening(created: Http2Server | Server, port: number): Promise<number> {
  server = created;
  created.listen(port, "127.0.0.1");
  await once(created, "listening");
  return (created.address() as AddressInfo).port;
}

async function stop(): Promise<void> {
  const stopping = server;
  server = undefined;
  if (stopping === undefined) return;
  const closed = once(stopping, "close");
  stopping.close();
  for (const session of sessions) session.destroy();
  sessions.clear();
  await closed;
}

afterEach(stop);

const clientOf = (port: number) => createClient(SessionService, bareTransport(`http://127.0.0.1:${port}`));
const watch = { sessionId: "00000000-0000-4000-8000-000000000001" };

async function failure(promise: Promise<unknown>): Promise<ConnectError> {
  const thrown = await promise.then(
    () => expect.unreachable("it should have failed"),
    (cause: unknown) => cause,
  );
  expect(thrown).toBeInstanceOf(ConnectError);
  return thrown as ConnectError;
}

async function drain(messages: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of messages) count++;
  return count;
}

function answerEmpty(stream: ServerHttp2Stream): void {
  stream.respond({ ":status": 200, "content-type": "application/proto" });
  stream.end();
}

describe("the bare transport", () => {
  it("says that the connection is lost when the server goes in the middle of a stream, after what came", async () => {
    const port = await peer((stream) => {
      stream.respond({ ":status": 200, "content-type": "application/connect+proto" });
      stream.write(encodeEnvelope(0, new Uint8Array()));
    });
    const messages = clientOf(port).watch(watch)[Symbol.asyncIterator]();
    expect((await messages.next()).done).toBe(false);
    const next = failure(messages.next());
    await stop();
    expect(await next).toMatchObject({ code: Code.Unavailable, rawMessage: expect.stringContaining("connection lost") });
  });

  it("says that the connection is lost when the server goes before it answers, and when there is none", async () => {
    const arrived = Promise.withResolvers<void>();
    const port = await peer(() => arrived.resolve());
    const client = clientOf(port);
    const call = failure(client.listSessions({}));
    await arrived.promise;
    await stop();
    expect(await call).toMatchObject({ code: Code.Unavailable });
    expect(await failure(client.listSessions({}))).toMatchObject({
      code: Code.Unavailable,
      rawMessage: expect.stringContaining("ECONNREFUSED"),
    });
    expect(await failure(drain(client.watch(watch)))).toMatchObject({ code: Code.Unavailable });
  });

  it("connects again when a server is back on the same port", async () => {
    const port = await peer(answerEmpty);
    const client = clientOf(port);
    await client.listSessions({});
    await stop();
    await failure(client.listSessions({}));
    await peer(answerEmpty, port);
    expect(await client.listSessions({})).toMatchObject({ sessions: [] });
  });

  it("opens another connection when the server says that it takes no further calls on this one", async () => {
    const used = new Set<unknown>();
    const port = await peer((stream) => {
      used.add(stream.session);
      answerEmpty(stream);
      stream.session!.close();
    });
    const client = clientOf(port);
    for (let index = 0; index < 5; index++) await client.listSessions({});
    expect(used.size).toBe(5);
  });

  it("makes a call that was refused before it began once more, and not a third time", async () => {
    let calls = 0;
    let refusals = 1;
    const port = await peer((stream) => {
      calls++;
      if (calls <= refusals) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else answerEmpty(stream);
    });
    const client = clientOf(port);
    expect(await client.listSessions({})).toMatchObject({ sessions: [] });
    expect(calls).toBe(2);
    [calls, refusals] = [0, 10];
    expect(await failure(client.listSessions({}))).toMatchObject({
      code: Code.Unavailable,
      rawMessage: expect.stringContaining("REFUSED_STREAM"),
    });
    expect(await failure(drain(client.watch(watch)))).toMatchObject({ code: Code.Unavailable });
    expect(calls).toBe(4);
  });

  it("resets the stream at once when its caller cancels, also while no answer has begun", async () => {
    const opened = Promise.withResolvers<ServerHttp2Stream>();
    const port = await peer((stream) => opened.resolve(stream));
    const leaving = new AbortController();
    const call = failure(drain(clientOf(port).watch(watch, { signal: leaving.signal })));
    const stream = await opened.promise;
    const closed = once(stream, "close");
    leaving.abort();
    expect((await call).code).toBe(Code.Canceled);
    await closed;
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
  });

  it("makes an error of every body that is no answer", async () => {
    const cases = fc.record({
      status: fc.constantFrom(200, 204, 302, 404, 500),
      type: fc.constantFrom("application/proto", "application/json", "application/connect+proto", "text/html"),
      body: fc.uint8Array({ minLength: 1, maxLength: 200 }),
      isEnd: fc.boolean(),
    });
    let given: { status: number; type: string; body: Uint8Array; isEnd: boolean };
    const port = await peer((stream) => {
      stream.respond({ ":status": given.status, "content-type": given.type });
      stream.end(given.isEnd ? encodeEnvelope(END_STREAM, given.body) : given.body);
    });
    const client = clientOf(port);
    await fc.assert(
      fc.asyncProperty(cases, async (next) => {
        given = next;
        const outcome = await client.listSessions({}).catch((thrown: unknown) => thrown);
        const mayBeAnAnswer = next.status === 200 && next.type === "application/proto";
        expect(outcome instanceof ConnectError || mayBeAnAnswer).toBe(true);
        // The bytes of a message at random are no end of a stream.
        await failure(drain(client.watch(watch)));
      }),
      { numRuns: 100 },
    );
  });

  it("names an IPv6 host as a URL does, in brackets", async () => {
    const created = createServer();
    const authorities: unknown[] = [];
    created.on("stream", (stream, headers) => {
      authorities.push(headers[":authority"]);
      (stream as ServerHttp2Stream).respond({ ":status": 404 }, { endStream: true });
    });
    created.on("session", (session) => sessions.add(session));
    server = created;
    created.listen(0, "::1");
    await once(created, "listening");
    const { port } = created.address() as AddressInfo;
    await failure(createClient(SessionService, bareTransport(`http://[::1]:${port}`)).listSessions({}));
    expect(authorities).toEqual([`[::1]:${port}`]);
  });

  it("makes an error of a peer that speaks something else", async () => {
    const talk = (socket: Socket): void => {
      socket.on("error", () => undefined);
      socket.resume();
      socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
    };
    const client = clientOf(await listening(createSocketServer(talk), 0));
    expect(await failure(client.listSessions({}))).toBeInstanceOf(ConnectError);
    expect(await failure(drain(client.watch(watch)))).toBeInstanceOf(ConnectError);
  });

  it("cuts a connection whose peer answers no pings", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
    try {
      const arrived = Promise.withResolvers<void>();
      const silent = createSocketServer((socket) => {
        socket.on("error", () => undefined);
        socket.once("data", () => arrived.resolve());
        socket.resume();
      });
      const call = failure(clientOf(await listening(silent, 0)).listSessions({}, { timeoutMs: 0 }));
      await arrived.promise;
      await vi.advanceTimersByTimeAsync(15_000 + 5_000);
      expect(await call).toMatchObject({ code: Code.Unavailable });
    } finally {
      vi.useRealTimers();
    }
  });
});
