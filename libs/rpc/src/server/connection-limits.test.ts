import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { connect, type Socket } from "node:net";
import { createClient } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@hlvm/proto/grpc/health/v1/health_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import type { ConnectionLimits } from "./connection-limits.ts";
import { serveSessions, type ServedSessions } from "../testing/serve-sessions.ts";

const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/** Length 0, type, flags, stream. */
const frame = (type: number, flags: number, stream: number): Buffer => Buffer.from([0, 0, 0, type, flags, 0, 0, 0, stream]);
const SETTINGS = frame(4, 0, 0);
const HEADERS_WITHOUT_END = frame(1, 0, 1);
const GOAWAY = 7;
const LIMITS = { connections: 4, requestHeadMilliseconds: 100, requestMilliseconds: 200, idleMilliseconds: 150, ageMilliseconds: 60_000 };
/** For callers that send at once, which takes longer than the others' limit on a busy machine. */
const LIMITS_OF_CALLERS = { ...LIMITS, requestHeadMilliseconds: 2_000, requestMilliseconds: 2_000 };

let server: ServedSessions;
let sockets: Socket[];
let gate: PromiseWithResolvers<void>;

beforeEach(() => {
  sockets = [];
  gate = Promise.withResolvers();
});

async function serve(limits: ConnectionLimits): Promise<void> {
  server = await serveSessions({ listSessions: () => gate.promise.then(() => ({})) }, { limits });
}

afterEach(async () => {
  gate.resolve();
  for (const socket of sockets) socket.destroy();
  await server.close();
});

/** A caller that never closes its own end. */
function open(...bytes: (string | Buffer)[]): Socket {
  const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true }).on("error", () => undefined);
  sockets.push(socket);
  for (const piece of bytes) socket.write(piece);
  return socket;
}

/** Everything that came until the server closed the connection both ways: then what is sent comes back as an error. */
async function heardUntilClosed(socket: Socket, dribble?: string | Buffer): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let send = dribble;
  const sending = setInterval(() => send !== undefined && socket.write(send), 10);
  socket.on("data", (piece: Buffer) => pieces.push(piece));
  socket.once("end", () => (send ??= "nobody there?"));
  await new Promise((resolve) => socket.once("close", resolve));
  clearInterval(sending);
  return Buffer.concat(pieces);
}

function frameTypes(bytes: Buffer): number[] {
  const types: number[] = [];
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) types.push(bytes[at + 3]!);
  return types;
}

const answers = async (): Promise<Status> => (await createClient(Health, createMeshTransport(server.url)).check({})).status;

describe("a connection", () => {
  beforeEach(() => serve(LIMITS));

  it.each([
    ["says nothing", []],
    ["sends half of HTTP/2's preface", ["PRI * HTT"]],
    ["sends no more than the beginning of HTTP/2's preface", ["PRI * HTTP/2.0\r\n"]],
  ])("that %s is closed", async (_what, bytes) => {
    await heardUntilClosed(open(...bytes));
    expect(await answers()).toBe(Status.SERVING);
  });

  it.each([
    ["never asks for anything", []],
    ["never ends the head of its first request", [HEADERS_WITHOUT_END]],
  ])("of HTTP/2 that %s is told GOAWAY and closed", async (_what, frames) => {
    const heard = await heardUntilClosed(open(PREFACE, SETTINGS, ...frames));
    expect(frameTypes(heard)).toContain(GOAWAY);
    expect(await answers()).toBe(Status.SERVING);
  });

  it("of HTTP/2 that only pings is not kept by it", async () => {
    const ping = Buffer.concat([Buffer.from([0, 0, 8, 6, 0, 0, 0, 0, 0]), Buffer.alloc(8)]);
    expect(frameTypes(await heardUntilClosed(open(PREFACE, SETTINGS), ping))).toContain(GOAWAY);
  });

  it("of HTTP/1.1 whose headers come one at a time is closed", async () => {
    const heard = await heardUntilClosed(open("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n"), "X: y\r\n");
    expect(heard.toString()).toMatch(/^HTTP\/1\.1 408/);
  });
});

describe("a connection that was used", () => {
  it("without a call under way is closed after a while, and one with a call is not", async () => {
    await serve(LIMITS_OF_CALLERS);
    const session = connectHttp2(server.url);
    const idle = connectHttp2(server.url);
    const call = session.request({
      ":method": "POST",
      ":path": `/${SessionService.typeName}/ListSessions`,
      "content-type": "application/proto",
      ...server.headers,
    });
    const answer = once(call, "response");
    call.end();
    const check = idle.request({ ":method": "POST", ":path": `/${Health.typeName}/Check`, "content-type": "application/proto" });
    check.resume().end();
    const [code] = (await once(idle, "goaway")) as [number];
    expect(code).toBe(constants.NGHTTP2_NO_ERROR);
    await once(idle, "close");
    expect([session.closed, session.destroyed]).toEqual([false, false]);
    gate.resolve();
    expect((await answer)[0]).toMatchObject({ ":status": 200 });
    session.destroy();
  });
});

describe("a request over HTTP/2", () => {
  it("whose end never comes is cancelled", async () => {
    await serve(LIMITS_OF_CALLERS);
    const session = connectHttp2(server.url);
    const stream = session.request({
      ":method": "POST",
      ":path": `/${SessionService.typeName}/ListSessions`,
      "content-type": "application/proto",
      ...server.headers,
    });
    stream.on("error", () => undefined).write("x");
    await once(stream, "close");
    expect(stream.rstCode).toBe(constants.NGHTTP2_CANCEL);
    session.destroy();
  });
});

describe("the connections of a port", () => {
  it("are so many at a time: the next one is closed at once", async () => {
    await serve(LIMITS_OF_CALLERS);
    const sessions = Array.from({ length: LIMITS.connections }, () => connectHttp2(server.url));
    await Promise.all(sessions.map((session) => once(session, "remoteSettings")));
    expect((await heardUntilClosed(open(PREFACE, SETTINGS))).length).toBe(0);
    sessions[0]!.destroy();
    await expect.poll(answers).toBe(Status.SERVING);
    for (const session of sessions) session.destroy();
  });
});
