import { constants } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { Code, createClient, type Client } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ListSessionsResponseSchema, SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createMeshTransport } from "../create-mesh-transport.ts";
import { failureOf } from "../testing/failure-of.ts";
import type { PeerLine } from "../testing/peer-line.ts";
import { RawPeer } from "../testing/raw-peer.ts";

const LIST = toBinary(ListSessionsResponseSchema, create(ListSessionsResponseSchema, { sessions: [{ title: "a title" }] }));
const WATCH = { sessionId: "00000000-0000-4000-8000-000000000001" };

let peer: RawPeer;
let client: Client<typeof SessionService>;

beforeEach(async () => {
  peer = await RawPeer.listen();
  client = createClient(SessionService, createMeshTransport(peer.url));
});
afterEach(() => peer.stop());

/** Makes calls and waits until they are begun; with the stream that carries them. */
async function begin(count: number): Promise<{ line: PeerLine; calls: Promise<unknown>[]; numbers: number[] }> {
  const calls = Array.from({ length: count }, () => client.listSessions({}));
  for (const call of calls) call.catch(() => undefined);
  const line = await peer.nextLine();
  const numbers: number[] = [];
  for (const _ of calls) numbers.push((await line.next()).call);
  return { line, calls, numbers };
}

async function answer(line: PeerLine, count: number): Promise<void> {
  for (let answered = 0; answered < count; answered++) line.send((await line.next()).call, [LIST], {});
}

describe("a service that takes no further calls", () => {
  it("has those that it did not begin made again on another connection, together, and the others end", async () => {
    const { line, calls, numbers } = await begin(3);
    for (const call of numbers.slice(1)) line.send(call, [], { neverBegun: true });
    const other = await peer.nextLine();
    await answer(other, 2);
    line.send(numbers[0]!, [LIST], {});
    for (const call of calls) expect(await call).toMatchObject({ sessions: [{ title: "a title" }] });
    expect(other.stream.session).not.toBe(line.stream.session);
    expect([peer.lines.length, line.heard.length, other.heard.length]).toEqual([2, 3, 2]);
  });

  it("has a call made once more, and not a third time", async () => {
    for (const call of [() => client.listSessions({}), () => client.watch(WATCH)[Symbol.asyncIterator]().next()]) {
      const before = peer.lines.length;
      const failed = failureOf(call());
      for (let time = 0; time < 2; time++) {
        const line = await peer.nextLine();
        line.send((await line.next()).call, [], { neverBegun: true });
      }
      expect((await failed).code).toBe(Code.Unavailable);
      expect(peer.lines).toHaveLength(before + 2);
    }
  });

  it("does not have a call made again that it began and answered in part", async () => {
    const messages = client.watch(WATCH)[Symbol.asyncIterator]();
    const first = messages.next();
    const line = await peer.nextLine();
    line.send((await line.next()).call, [new Uint8Array()], { neverBegun: true });
    expect((await first).done).toBe(false);
    await expect(messages.next()).rejects.toMatchObject({ code: Code.Unavailable });
    expect(peer.lines).toHaveLength(1);
  });

  it("does not have a call made again whose caller has left", async () => {
    const leaving = new AbortController();
    const call = failureOf(client.listSessions({}, { signal: leaving.signal }));
    const line = await peer.nextLine();
    const { call: number } = await line.next();
    leaving.abort();
    line.send(number, [], { neverBegun: true });
    expect(await call).toMatchObject({ code: Code.Canceled });
    expect(peer.lines).toHaveLength(1);
  });

  it("may refuse the whole stream, as HTTP/2 has it", async () => {
    const { line, calls } = await begin(2);
    line.stream.close(constants.NGHTTP2_REFUSED_STREAM);
    await answer(await peer.nextLine(), 2);
    for (const call of calls) expect(await call).toMatchObject({ sessions: [{ title: "a title" }] });
  });

  it("has the calls made again that cross its last word, as it cannot have begun them", async () => {
    const { line, calls } = await begin(2);
    line.end();
    await answer(await peer.nextLine(), 2);
    for (const call of calls) expect(await call).toMatchObject({ sessions: [{ title: "a title" }] });
  }, 5_000);

  it("has its next calls on another connection, once it said so", async () => {
    const used = new Set<unknown>();
    for (let index = 0; index < 3; index++) {
      const call = client.listSessions({});
      const line = await peer.nextLine();
      used.add(line.stream.session);
      line.stream.session!.close();
      await answer(line, 1);
      await call;
    }
    expect(used.size).toBe(3);
  });
});
