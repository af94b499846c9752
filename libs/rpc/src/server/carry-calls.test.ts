import { once } from "node:events";
import { constants, type IncomingHttpHeaders } from "node:http2";
import { connect } from "node:net";
import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { RawCaller } from "../testing/raw-caller.ts";
import { serveSessions, type ServedSessions } from "../testing/serve-sessions.ts";

const { cancelRun, getSession, listSessions } = SessionService.method;
const ID = "00000000-0000-4000-8000-000000000001";
const RUN = { sessionId: ID, runId: ID };
const CARRY = "/hlvm.mesh.v1.MeshService/Carry";
const STREAM_TYPE = "application/connect+proto";
const RANDOM_RUNS = 100;
const [HEADERS, RST_STREAM, SETTINGS] = [1, 3, 4];

let server: ServedSessions;
let callers: RawCaller[];
let limits: number[];
let begun: PromiseWithResolvers<void>;
let aborted: PromiseWithResolvers<unknown>;

const methods: Partial<ServiceImpl<typeof SessionService>> = {
  listSessions: ({ limit }) => {
    limits.push(limit);
    return {};
  },
  getSession: () => {
    const endless: Record<string, unknown> = {};
    endless.itself = endless;
    const error = new ConnectError("It cannot be written.", Code.Internal);
    error.details.push({ type: "endless", value: new Uint8Array(), debug: endless as never });
    throw error;
  },
  cancelRun: async (_request, { signal }) => {
    begun.resolve();
    await once(signal, "abort");
    aborted.resolve(signal.reason);
    return {};
  },
};

function open(): RawCaller {
  const caller = new RawCaller(server);
  callers.push(caller);
  return caller;
}

beforeEach(async () => {
  callers = [];
  limits = [];
  [begun, aborted] = [Promise.withResolvers(), Promise.withResolvers()];
  server = await serveSessions(methods);
});

afterEach(async () => {
  for (const { session } of callers) session.destroy();
  await server.close();
});

/** A stream with one call under way, and another stream, which is to go on whatever happens on the first. */
async function openTwo(): Promise<{ readonly broken: RawCaller; readonly sound: RawCaller }> {
  const [broken, sound] = [open(), open()];
  broken.begin(1, cancelRun, RUN);
  await begun.promise;
  await sound.settled();
  return { broken, sound };
}

async function expectCut({ broken, sound }: { broken: RawCaller; sound: RawCaller }, code: number): Promise<void> {
  await broken.closed;
  expect(broken.stream.rstCode).toBe(code);
  expect(await aborted.promise).toMatchObject({ name: "ConnectError" });
  for (const caller of [sound, open()]) {
    caller.begin(1, listSessions, {});
    expect(await caller.outcome(1)).toMatchObject({ error: undefined });
  }
}

describe("a stream that carries calls", () => {
  it("is cut, and it alone, where a call's number is begun twice", async () => {
    const both = await openTwo();
    both.broken.begin(1, listSessions, {});
    await expectCut(both, constants.NGHTTP2_PROTOCOL_ERROR);
  });

  it.each([
    ["a frame that is no request", encodeEnvelope(0, Buffer.from([0xff]))],
    ["a frame that is too large, when it is announced", Buffer.from([0, 2, 0, 0, 0])],
    ["a request in another protocol", Buffer.from("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")],
  ])("is cut, and it alone, at %s", async (_name, bytes) => {
    const both = await openTwo();
    both.broken.stream.write(bytes);
    await expectCut(both, constants.NGHTTP2_PROTOCOL_ERROR);
  });

  it("is cut, and it alone, where an error cannot be written", async () => {
    const both = await openTwo();
    both.broken.begin(2, getSession, { sessionId: ID });
    await expectCut(both, constants.NGHTTP2_INTERNAL_ERROR);
  });

  it("begins nothing that comes after what it was cut for", async () => {
    const both = await openTwo();
    both.broken.stream.write(encodeEnvelope(0, Buffer.from([0xff])));
    for (let call = 2; call < 10; call++) both.broken.begin(call, listSessions, { limit: 500 });
    await expectCut(both, constants.NGHTTP2_PROTOCOL_ERROR);
    expect(limits).toEqual([0, 0]);
  });

  it("ends, whatever bytes come on it, and the others go on", async () => {
    const sound = open();
    const pieces = fc.array(fc.record({ bytes: fc.uint8Array({ maxLength: 200 }), isEnveloped: fc.boolean() }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(pieces, async (given) => {
        const caller = new RawCaller(server);
        caller.begin(1, listSessions, {});
        for (const { bytes, isEnveloped } of given) caller.stream.write(isEnveloped ? encodeEnvelope(0, bytes) : bytes);
        caller.stream.end();
        await caller.closed;
        caller.session.destroy();
        await sound.settled();
      }),
      { numRuns: RANDOM_RUNS },
    );
    sound.begin(1, listSessions, {});
    expect(await sound.outcome(1)).toMatchObject({ error: undefined });
  });

  it("does no harm where it is broken off in the bytes that open it", async () => {
    const socket = connect(server.port, "127.0.0.1").on("error", () => undefined);
    const closed = once(socket.resume(), "close");
    const headers = { ":method": "POST", ":scheme": "http", ":authority": "127.0.0.1", ":path": CARRY, "content-type": STREAM_TYPE };
    socket.end(
      Buffer.concat([
        Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        frame(SETTINGS, 0, 0, Buffer.alloc(0)),
        frame(HEADERS, constants.NGHTTP2_FLAG_END_HEADERS, 1, headerBlock(headers)),
        frame(RST_STREAM, 0, 1, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL])),
      ]),
    );
    await closed;
    const caller = open();
    caller.begin(1, listSessions, {});
    expect(await caller.outcome(1)).toMatchObject({ error: undefined });
  });

  it.each([
    [":method", { ":method": "GET" }],
    [":method", { ":method": "GET", "content-type": STREAM_TYPE }],
    ["content-type", { "content-type": "application/proto" }],
    ["content-type", { "content-type": "application/json" }],
    ["content-type", { "content-type": "application/grpc+proto" }],
    ["content-type", {}],
    [":path", { ":path": `${CARRY}/`, "content-type": STREAM_TYPE }],
    [":path", { ":path": `${CARRY}?connect=v1`, "content-type": STREAM_TYPE }],
  ])("is none of another %s: %j", async (_name, headers) => {
    const { session } = open();
    const stream = session.request({ ":method": "POST", ":path": CARRY, ...headers });
    stream.resume().end();
    const [answer] = (await once(stream, "response")) as [IncomingHttpHeaders & { ":status": number }];
    expect(answer[":status"]).toBeGreaterThanOrEqual(400);
    expect(answer[":status"]).toBeLessThan(500);
  });
});

/** A frame of HTTP/2: its length in three bytes, type, flags, stream. */
function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Headers as HPACK has them at its simplest: each a literal that is not remembered. */
function headerBlock(headers: Readonly<Record<string, string>>): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
  return Buffer.concat(Object.entries(headers).map(([name, value]) => Buffer.concat([Buffer.from([0]), text(name), text(value)])));
}
