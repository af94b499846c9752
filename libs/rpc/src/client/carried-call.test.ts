import { create, toBinary } from "@bufbuild/protobuf";
import { Code, createClient, type Client, type Transport } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ListSessionsResponseSchema, SessionService, WatchResponseSchema } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createMeshTransport } from "../create-mesh-transport.ts";
import { countOf } from "../testing/count-of.ts";
import { failureOf } from "../testing/failure-of.ts";
import type { PeerLine } from "../testing/peer-line.ts";
import { RawPeer } from "../testing/raw-peer.ts";

const WATCH = { sessionId: "00000000-0000-4000-8000-000000000001" };
const HALF_A_WINDOW = 32_768;
const WEIGHT = 64;
const LIST = toBinary(ListSessionsResponseSchema, create(ListSessionsResponseSchema, { sessions: [{ title: "a title" }] }));
const EVENT = toBinary(WatchResponseSchema, create(WatchResponseSchema, { events: [{ sessionId: "x".repeat(1_000) }] }));

let peer: RawPeer;
let transport: Transport;
let client: Client<typeof SessionService>;

beforeEach(async () => {
  peer = await RawPeer.listen();
  transport = createMeshTransport(peer.url);
  client = createClient(SessionService, transport);
});
afterEach(() => peer.stop());

async function watching(): Promise<AsyncIterable<unknown>> {
  const request = (async function* () {
    yield WATCH;
  })();
  return (await transport.stream(SessionService.method.watch, undefined, undefined, undefined, request)).message;
}

/** Makes a call and answers it; returns what the caller said before it. */
async function heardBefore(line: PeerLine): Promise<(string | undefined)[]> {
  const call = client.listSessions({});
  const heard: (string | undefined)[] = [];
  for (;;) {
    const { call: number, kind } = await line.next();
    if (kind.case === "begin") {
      line.send(number, [LIST], {});
      await call;
      return heard;
    }
    heard.push(kind.case);
  }
}

describe("a call that is carried", () => {
  it("fails where it is unary and has two answers, or none, or one that is none", async () => {
    for (const answers of [[LIST, LIST], [], [Buffer.from([0xff])]]) {
      const call = failureOf(client.listSessions({}));
      const line = peer.lines[0] ?? (await peer.nextLine());
      line.send((await line.next()).call, answers, {});
      expect((await call).code).toBe(Code.Internal);
    }
    expect(await heardBefore(peer.lines[0]!)).toEqual([]);
  });

  it("that is a stream fails at the answer that is none, after the others, and is cancelled", async () => {
    const messages = client.watch(WATCH)[Symbol.asyncIterator]();
    const first = messages.next();
    const line = await peer.nextLine();
    const { call } = await line.next();
    line.send(call, [EVENT, Buffer.from([0xff])]);
    expect((await first).done).toBe(false);
    expect((await failureOf(messages.next())).code).toBe(Code.Internal);
    expect(await line.next()).toMatchObject({ call, kind: { case: "cancel" } });
  });

  it.each(["nothing", "[]", '"internal"', "null", '{"message":7}', '{"code":"nobody"}', '{"details":[7]}', "{}"])(
    "fails where it ends with an error that is none: %s",
    async (error) => {
      const calls = [failureOf(client.listSessions({})), failureOf(countOf(client.watch(WATCH)))];
      const line = await peer.nextLine();
      for (const _ of calls) line.send((await line.next()).call, [], { errorJson: Buffer.from(error) });
      for (const call of calls) expect((await call).code).toBe(Code.Internal);
    },
  );

  it("fails alone where its error cannot be read", async () => {
    const failing = failureOf(client.listSessions({}));
    const other = client.listSessions({});
    const line = await peer.nextLine();
    const [first, second] = [await line.next(), await line.next()];
    line.send(first.call, [], { errorJson: Buffer.from("nothing") });
    expect((await failing).code).toBe(Code.Internal);
    line.send(second.call, [new Uint8Array()], {});
    expect((await other).sessions).toEqual([]);
  });

  it("has its answers before the error that it ends with", async () => {
    const messages = client.watch(WATCH)[Symbol.asyncIterator]();
    const first = messages.next();
    const line = await peer.nextLine();
    line.send((await line.next()).call, [EVENT, EVENT], { errorJson: Buffer.from('{"code":"not_found","message":"gone"}') });
    expect([(await first).done, (await messages.next()).done]).toEqual([false, false]);
    expect(await failureOf(messages.next())).toMatchObject({ code: Code.NotFound, rawMessage: "gone" });
  });

  it("is cancelled at once when its caller aborts, answers that wait or not", async () => {
    const leaving = new AbortController();
    const messages = client.watch(WATCH, { signal: leaving.signal })[Symbol.asyncIterator]();
    const first = messages.next();
    const line = await peer.nextLine();
    const calls = [(await line.next()).call];
    const unary = failureOf(client.listSessions({}, { signal: leaving.signal }));
    calls.push((await line.next()).call);
    line.send(calls[0]!, [EVENT, EVENT]);
    await first;
    leaving.abort();
    expect((await failureOf(messages.next())).code).toBe(Code.Canceled);
    expect((await unary).code).toBe(Code.Canceled);
    for (const call of calls) expect(await line.next()).toMatchObject({ call, kind: { case: "cancel" } });
    // It may cross what the service still says.
    for (const call of calls) line.send(call, [EVENT], { errorJson: Buffer.from("{}") });
    expect(await heardBefore(line)).toEqual([]);
  });

  it("ends at its deadline, and is cancelled", async () => {
    const calls = [failureOf(client.listSessions({}, { timeoutMs: 20 })), failureOf(countOf(client.watch(WATCH, { timeoutMs: 20 })))];
    const line = await peer.nextLine();
    for (const call of calls) expect((await call).code).toBe(Code.DeadlineExceeded);
    const heard = [await line.next(), await line.next(), await line.next(), await line.next()].map(
      ({ call, kind }) => `${kind.case} ${call}`,
    );
    expect(heard.toSorted()).toEqual(["begin 1", "begin 2", "cancel 1", "cancel 2"]);
  });

  it("is cancelled when its reader leaves the loop, and not when it came to its end", async () => {
    const left = (async () => {
      for await (const _ of await watching()) break;
    })();
    const line = await peer.nextLine();
    const { call } = await line.next();
    line.send(call, [EVENT, EVENT]);
    await left;
    expect(await line.next()).toMatchObject({ call, kind: { case: "cancel" } });
    const whole = countOf(await watching());
    line.send((await line.next()).call, [EVENT, EVENT], {});
    expect(await whole).toBe(2);
    expect(await heardBefore(line)).toEqual([]);
  });

  it("tells the service what is read, and nothing where nobody reads", async () => {
    const weight = EVENT.length + WEIGHT;
    const toldAfter = Math.ceil(HALF_A_WINDOW / weight);
    const messages = client.watch(WATCH)[Symbol.asyncIterator]();
    const first = messages.next();
    const line = await peer.nextLine();
    const { call } = await line.next();
    line.send(
      call,
      Array.from({ length: 3 * toldAfter }, () => EVENT),
    );
    await first;
    for (let read = 1; read < toldAfter - 1; read++) await messages.next();
    expect(await heardBefore(line)).toEqual([]);
    for (const _ of [1, 2]) {
      await messages.next();
      expect(await line.next()).toMatchObject({ call, kind: { case: "read", value: toldAfter * weight } });
      for (let read = 1; read < toldAfter; read++) await messages.next();
      expect(await heardBefore(line)).toEqual([]);
    }
    const ended = countOf(client.watch(WATCH));
    const answers = Array.from({ length: 2 * toldAfter }, () => EVENT);
    line.send((await line.next()).call, answers, {});
    expect(await ended).toBe(answers.length);
    expect(await heardBefore(line)).toEqual([]);
  });
});
