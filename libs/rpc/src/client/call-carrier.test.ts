import { once } from "node:events";
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import { createServer, type AddressInfo } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Client } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { ListSessionsResponseSchema, SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createMeshTransport } from "../create-mesh-transport.ts";
import { countOf } from "../testing/count-of.ts";
import { failureOf } from "../testing/failure-of.ts";
import type { PeerLine } from "../testing/peer-line.ts";
import { RawPeer } from "../testing/raw-peer.ts";

const WATCH = { sessionId: "00000000-0000-4000-8000-000000000001" };
const LIST = toBinary(ListSessionsResponseSchema, create(ListSessionsResponseSchema, { sessions: [{ title: "a title" }] }));
const STREAM_TYPE = "application/connect+proto";
const RANDOM_RUNS = 100;

let peer: RawPeer | undefined;
let client: Client<typeof SessionService>;

async function listen(answer?: (stream: ServerHttp2Stream) => void): Promise<RawPeer> {
  peer = await RawPeer.listen(answer);
  client = clientOf(peer.url);
  return peer;
}

const clientOf = (url: string) => createClient(SessionService, createMeshTransport(url));

afterEach(async () => {
  await peer?.stop();
  peer = undefined;
});

/** A unary call and a stream, both begun. */
async function beginTwo(line: () => Promise<PeerLine>): Promise<{ line: PeerLine; calls: [Promise<unknown>, Promise<unknown>] }> {
  const calls: [Promise<unknown>, Promise<unknown>] = [client.listSessions({}), countOf(client.watch(WATCH))];
  for (const call of calls) call.catch(() => undefined);
  const opened = await line();
  for (const _ of calls) await opened.next();
  return { line: opened, calls };
}

async function expectAnswered(line: PeerLine, call: Promise<unknown>): Promise<void> {
  line.send((await line.next()).call, [LIST], {});
  expect(await call).toMatchObject({ sessions: [{ title: "a title" }] });
}

describe("the connection that carries calls", () => {
  it("fails its calls where nobody listens, and finds a service that comes later", async () => {
    const gone = await RawPeer.listen();
    const { port } = gone;
    await gone.stop();
    client = clientOf(`http://127.0.0.1:${port}`);
    expect(await failureOf(client.listSessions({}))).toMatchObject({
      code: Code.Unavailable,
      rawMessage: expect.stringContaining("ECONNREFUSED"),
    });
    expect(await failureOf(countOf(client.watch(WATCH)))).toMatchObject({ code: Code.Unavailable });
    peer = await RawPeer.listen(undefined, port);
    const call = client.listSessions({});
    await expectAnswered(await peer.nextLine(), call);
  });

  it("fails its calls where the peer speaks something else", async () => {
    const other = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.resume().end("HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    client = clientOf(`http://127.0.0.1:${(other.address() as AddressInfo).port}`);
    await failureOf(client.listSessions({}));
    await failureOf(countOf(client.watch(WATCH)));
    expect(await new Promise((resolve) => other.close(resolve))).toBeUndefined();
  });

  it.each([
    [{ ":status": 404 }, Code.Unimplemented],
    [{ ":status": 503 }, Code.Unavailable],
    [{ ":status": 302, location: "/" }, Code.Unknown],
    [{ ":status": 200 }, Code.Unknown],
    [{ ":status": 200, "content-type": "text/html" }, Code.Unknown],
    [{ ":status": 200, "content-type": "application/proto" }, Code.Internal],
    [{ ":status": 200, "content-type": STREAM_TYPE }, Code.Unavailable],
    [{ ":status": 200, "content-type": STREAM_TYPE, "connect-content-encoding": "gzip" }, Code.Internal],
  ])("fails its calls where the peer answers %j", async (headers, code) => {
    await listen((stream) => stream.respond(headers, { endStream: true }));
    expect((await failureOf(client.listSessions({}))).code).toBe(code);
    expect((await failureOf(countOf(client.watch(WATCH)))).code).toBe(code);
  });

  it("fails its calls when the peer dies in the middle of them, and the next call connects again", async () => {
    const { sessions } = await listen();
    const { calls } = await beginTwo(() => peer!.nextLine());
    sessions[0]!.destroy();
    for (const call of calls) expect((await failureOf(call)).code).toBe(Code.Unavailable);
    const next = client.listSessions({});
    await expectAnswered(await peer!.nextLine(), next);
    expect(sessions).toHaveLength(2);
  });

  it.each([constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_CANCEL, constants.NGHTTP2_INTERNAL_ERROR])(
    "fails its calls when the peer resets the stream with code %d, and the next call is made on another",
    async (code) => {
      await listen();
      const { line, calls } = await beginTwo(() => peer!.nextLine());
      line.stream.close(code);
      for (const call of calls) await failureOf(call);
      const next = client.listSessions({});
      await expectAnswered(await peer!.nextLine(), next);
    },
  );

  it("fails the calls that have no end when the peer closes the stream, after the answers that came", async () => {
    await listen();
    const messages = client.watch(WATCH)[Symbol.asyncIterator]();
    const first = messages.next();
    const line = await peer!.nextLine();
    line.send((await line.next()).call, [new Uint8Array()]);
    line.stream.end();
    expect((await first).done).toBe(false);
    expect((await failureOf(messages.next())).code).toBe(Code.Unavailable);
  });

  it("goes on where something is said of calls that are none, or have ended", async () => {
    await listen();
    const { line, calls } = await beginTwo(() => peer!.nextLine());
    const [unary, stream] = line.heard.map(({ call }) => call);
    const others = [0, 77, 2 ** 32 - 1];
    for (const call of others) line.send(call, [LIST], call === 0 ? undefined : { errorJson: Buffer.from("nothing") });
    line.send(unary!, [LIST], {});
    line.send(unary!, [LIST], {});
    line.send(stream!, [], {});
    line.write(encodeEnvelope(0, new Uint8Array()));
    expect(await Promise.all(calls)).toEqual([expect.objectContaining({ sessions: [expect.anything()] }), 0]);
    await expectAnswered(line, client.listSessions({}));
  });

  it.each([
    ["a frame that is no answer", encodeEnvelope(0, Buffer.from([0xff])), Code.Internal],
    ["a frame that is too large, when it is announced", Buffer.from([0, 2, 0, 0, 0]), Code.ResourceExhausted],
  ])("fails its calls at %s, and the next call connects again", async (_name, bytes, code) => {
    await listen();
    const { line, calls } = await beginTwo(() => peer!.nextLine());
    line.write(bytes);
    for (const call of calls) expect((await failureOf(call)).code).toBe(code);
    const next = client.listSessions({});
    await expectAnswered(await peer!.nextLine(), next);
  });

  it("ends every call, whatever bytes come", async () => {
    const pieces = fc.array(fc.record({ bytes: fc.uint8Array({ maxLength: 200 }), isEnveloped: fc.boolean() }), { maxLength: 5 });
    let answer: readonly Uint8Array[] = [];
    await listen((stream) => {
      stream.respond({ ":status": 200, "content-type": STREAM_TYPE });
      stream.once("data", () => stream.end(Buffer.concat(answer)));
    });
    await fc.assert(
      fc.asyncProperty(pieces, async (given) => {
        answer = given.map(({ bytes, isEnveloped }) => (isEnveloped ? encodeEnvelope(0, bytes) : bytes));
        for (const outcome of await Promise.allSettled([client.listSessions({}), countOf(client.watch(WATCH))]))
          expect(outcome.status === "fulfilled" || outcome.reason instanceof ConnectError).toBe(true);
      }),
      { numRuns: RANDOM_RUNS },
    );
    answer = [];
    expect((await failureOf(client.listSessions({}))).code).toBe(Code.Unavailable);
  });

  it.each<[string, (line: PeerLine) => void]>([
    ["answers something else", (line) => line.write(encodeEnvelope(0, Buffer.from([0xff])))],
    ["ends the stream", (line) => line.end()],
    ["resets the stream", (line) => line.stream.close(constants.NGHTTP2_INTERNAL_ERROR)],
  ])(
    "is closed when the peer %s: the calls after it need another",
    async (_name, act) => {
      await listen();
      const { line, calls } = await beginTwo(() => peer!.nextLine());
      const closed = once(line.stream.session as ServerHttp2Session, "close");
      act(line);
      await Promise.race([Promise.allSettled(calls), peer!.nextLine()]);
      await closed;
      expect(peer!.sessions[0]!.destroyed).toBe(true);
    },
    5_000,
  );
});
