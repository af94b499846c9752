import { once } from "node:events";
import { connect as connectHttp1 } from "node:net";
import { connect as connectHttp2, constants, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SessionService, WatchRequestSchema } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { testLog } from "@hlvm/testing/test-log";
import { serveSessions, type ServedSessions } from "../testing/serve-sessions.ts";

const { typeName, method } = SessionService;
const REQUEST = toBinary(
  WatchRequestSchema,
  create(WatchRequestSchema, { sessionId: "00000000-0000-4000-8000-000000000001", follow: true }),
);
const LONG = { events: [{ principal: "x".repeat(100_000) }] };
const CALLS = [
  ["over Connect", "application/connect+proto"],
  ["over gRPC", "application/grpc+proto"],
  ["over gRPC-Web", "application/grpc-web+proto"],
] as const;

let server: ServedSessions;
let session: ClientHttp2Session;
let isOver: PromiseWithResolvers<void>;
let answer: (signal: AbortSignal) => AsyncGenerator<object>;

beforeEach(async () => {
  isOver = Promise.withResolvers();
  server = await serveSessions({
    watch: async function* (_request, { signal }) {
      try {
        yield* answer(signal);
      } finally {
        isOver.resolve();
      }
    },
  });
  session = connectHttp2(server.url).on("error", () => undefined);
  vi.spyOn(testLog, "error");
  vi.spyOn(testLog, "warn");
});

afterEach(() => {
  vi.restoreAllMocks();
  session.destroy();
});

/** A server closes when all that it had to say of its calls is in the log. */
async function expectQuietEnd(): Promise<void> {
  await isOver.promise;
  await server.close();
  expect(vi.mocked(testLog.error).mock.calls).toEqual([]);
  expect(vi.mocked(testLog.warn).mock.calls).toEqual([]);
}

async function watch(contentType: string): Promise<ClientHttp2Stream> {
  const headers = { "content-type": contentType, te: "trailers", ...server.headers };
  const stream = session.request({ ":method": "POST", ":path": `/${typeName}/${method.watch.name}`, ...headers });
  stream.on("error", () => undefined).end(encodeEnvelope(0, REQUEST));
  await once(stream, "data");
  return stream;
}

/** As one that waits for what comes next. */
async function* waitOn(signal: AbortSignal): AsyncGenerator<object> {
  yield {};
  await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
}

/** As one that has always more to say, whoever hears it. */
async function* sayOn(): AsyncGenerator<object> {
  for (let piece = 0; piece < 200; piece++) {
    yield LONG;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("a caller that goes away is no fault of the service", () => {
  describe.each(CALLS)("%s", (_, contentType) => {
    it.each([
      ["waits", waitOn],
      ["is writing", sayOn],
    ])("while its handler %s", async (_what, answers) => {
      answer = answers;
      (await watch(contentType)).close(constants.NGHTTP2_INTERNAL_ERROR);
      await expectQuietEnd();
    });

    it.each([
      ["waits", waitOn],
      ["is writing", sayOn],
    ])("and its whole connection with it, while its handler %s", async (_what, answers) => {
      answer = answers;
      await watch(contentType);
      session.destroy();
      await expectQuietEnd();
    });
  });

  it.each([
    ["waits", waitOn],
    ["is writing", sayOn],
  ])("over HTTP/1.1, while its handler %s", async (_what, answers) => {
    answer = answers;
    const socket = connectHttp1(server.port, "127.0.0.1").on("error", () => undefined);
    const body = encodeEnvelope(0, REQUEST);
    const head = `POST /${typeName}/Watch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/connect+proto\r\n`;
    socket.write(`${head}Authorization: ${server.headers.authorization}\r\nContent-Length: ${body.length}\r\n\r\n`);
    socket.write(body);
    await once(socket, "data");
    socket.resetAndDestroy();
    await expectQuietEnd();
  });
});
