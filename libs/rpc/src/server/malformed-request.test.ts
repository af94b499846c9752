import { once } from "node:events";
import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { testLog } from "@hlvm/testing/test-log";
import { serveSessions, type ServedSessions } from "../testing/serve-sessions.ts";

const { listSessions, watch } = SessionService.method;
/** Says that five bytes follow, and one does. */
const NO_MESSAGE = Buffer.from([0x0a, 0x05, 0x41]);
const INVALID_ARGUMENT = { connect: "invalid_argument", grpc: "3" };

let server: ServedSessions;
let session: ClientHttp2Session;
const handled = vi.fn<() => void>();

beforeEach(async () => {
  server = await serveSessions({
    listSessions: () => {
      handled();
      return {};
    },
    watch: async function* () {
      handled();
      yield {};
    },
  });
  session = connectHttp2(server.url);
  vi.spyOn(testLog, "error");
});

afterEach(async () => {
  expect(handled).not.toHaveBeenCalled();
  expect(testLog.error).not.toHaveBeenCalled();
  vi.restoreAllMocks();
  session.destroy();
  await server.close();
});

async function answerTo(
  method: typeof listSessions | typeof watch,
  contentType: string,
  body: Uint8Array,
  more: Record<string, string> = {},
) {
  const stream = session.request({
    ":method": "POST",
    ":path": `/${SessionService.typeName}/${method.name}`,
    "content-type": contentType,
    te: "trailers",
    ...server.headers,
    ...more,
  });
  let [head, trailers]: Record<string, unknown>[] = [{}, {}];
  stream.once("response", (headers) => (head = headers));
  stream.once("trailers", (headers) => (trailers = headers));
  stream.end(body);
  const pieces: Buffer[] = [];
  stream.on("data", (piece: Buffer) => pieces.push(piece));
  await once(stream, "close");
  const text = Buffer.concat(pieces).toString("latin1");
  const json = text.includes("{") ? (JSON.parse(text.slice(text.indexOf("{"))) as { code?: string; error?: { code: string } }) : {};
  return { status: head![":status"], connect: json.code ?? json.error?.code, grpc: trailers!["grpc-status"] ?? head!["grpc-status"], text };
}

describe("a request that is no message of its method is the caller's mistake", () => {
  it("over Connect", async () => {
    expect(await answerTo(listSessions, "application/proto", NO_MESSAGE)).toMatchObject({ status: 400, connect: INVALID_ARGUMENT.connect });
    expect(await answerTo(listSessions, "application/json", Buffer.from("{"))).toMatchObject({
      status: 400,
      connect: INVALID_ARGUMENT.connect,
    });
    const envelope = encodeEnvelope(0, NO_MESSAGE);
    expect(await answerTo(watch, "application/connect+proto", envelope)).toMatchObject({ connect: INVALID_ARGUMENT.connect });
  });

  it.each([listSessions, watch])("over gRPC and gRPC-Web: $name", async (method) => {
    const envelope = encodeEnvelope(0, NO_MESSAGE);
    expect(await answerTo(method, "application/grpc+proto", envelope)).toMatchObject({ grpc: INVALID_ARGUMENT.grpc });
    expect((await answerTo(method, "application/grpc-web+proto", envelope)).text).toMatch(/grpc-status: 3\r\n/i);
  });

  it.each([listSessions, watch])("where it is cut off, or is not compressed as it says: $name", async (method) => {
    const cutOff = encodeEnvelope(0, NO_MESSAGE).subarray(0, 6);
    expect(await answerTo(method, "application/grpc+proto", cutOff)).toMatchObject({ grpc: INVALID_ARGUMENT.grpc });
    const notCompressed = encodeEnvelope(1, NO_MESSAGE);
    const gzip = { "grpc-encoding": "gzip" };
    expect(await answerTo(method, "application/grpc+proto", notCompressed, gzip)).toMatchObject({ grpc: INVALID_ARGUMENT.grpc });
  });
});
