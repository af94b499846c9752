import { create, toBinary } from "@bufbuild/protobuf";
import { Code, createClient, type Client } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ListSessionsResponseSchema, SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createMeshTransport } from "./create-mesh-transport.ts";
import { countOf } from "./testing/count-of.ts";
import { failureOf } from "./testing/failure-of.ts";
import { RawPeer } from "./testing/raw-peer.ts";

const WATCH = { sessionId: "00000000-0000-4000-8000-000000000001" };
const MAXIMUM_BYTES = 16 * 1024 * 1024;
/** With the five bytes before it, a request at the limit. */
const LONGEST_ID = "x".repeat(MAXIMUM_BYTES - 5);
const DEFAULT_DEADLINE_MILLISECONDS = 30_000;
const LIST = toBinary(ListSessionsResponseSchema, create(ListSessionsResponseSchema, { sessions: [{ title: "a title" }] }));
const INVALID_ARGUMENT = Buffer.from('{"code":"invalid_argument"}');

let peer: RawPeer;
let client: Client<typeof SessionService>;

beforeEach(async () => {
  peer = await RawPeer.listen();
  client = createClient(SessionService, createMeshTransport(peer.url));
});
afterEach(() => peer.stop());

describe("a call to another service", () => {
  it("says where it goes, with which headers and deadline, in lower case and whole milliseconds", async () => {
    const deadlines = [undefined, 0, -1, 1_500.2] as const;
    const calls = deadlines.map((timeoutMs) =>
      client.listSessions(
        { limit: 7 },
        {
          headers: [
            ["X-One", "1"],
            ["x-one", "2"],
          ],
          timeoutMs,
        },
      ),
    );
    const line = await peer.nextLine();
    const numbers = new Set<number>();
    for (const timeoutMilliseconds of [DEFAULT_DEADLINE_MILLISECONDS, 0, 0, 1_501]) {
      const { call, kind } = await line.next();
      expect(kind).toMatchObject({
        case: "begin",
        value: {
          path: "/hlvm.session.v1.SessionService/ListSessions",
          headers: { "x-one": "1, 2" },
          timeoutMilliseconds,
          request: new Uint8Array([8, 7]),
        },
      });
      numbers.add(call);
      line.send(call, [LIST], {});
    }
    for (const call of calls) expect(await call).toMatchObject({ sessions: [{ title: "a title" }] });
    expect(numbers.size).toBe(deadlines.length);
  });

  it("is not begun where its caller has aborted already", async () => {
    expect((await failureOf(client.listSessions({}, { signal: AbortSignal.abort() }))).code).toBe(Code.Canceled);
    expect((await failureOf(countOf(client.watch(WATCH, { signal: AbortSignal.abort() })))).code).toBe(Code.Canceled);
    expect(peer.sessions).toEqual([]);
  });

  it.each([2 ** 32, Number.MAX_SAFE_INTEGER, Infinity, NaN])(
    "is refused as every service refuses it with a deadline of %d",
    async (timeoutMs) => {
      const call = failureOf(client.listSessions({}, { timeoutMs }));
      // Where the caller does not refuse it itself.
      const refused = peer.nextLine().then(async (line) => line.send((await line.next()).call, [], { errorJson: INVALID_ARGUMENT }));
      refused.catch(() => undefined);
      expect((await call).code).toBe(Code.InvalidArgument);
    },
  );

  it("is refused before it is sent where its request is over the limit, and the others go on", async () => {
    const calls = [client.listSessions({})];
    const line = await peer.nextLine();
    expect((await failureOf(client.getSession({ sessionId: `${LONGEST_ID}x` }))).code).toBe(Code.ResourceExhausted);
    expect((await failureOf(countOf(client.watch({ sessionId: `${LONGEST_ID}x` })))).code).toBe(Code.ResourceExhausted);
    calls.push(client.listSessions({}));
    for (const call of calls) {
      line.send((await line.next()).call, [LIST], {});
      expect(await call).toMatchObject({ sessions: [{ title: "a title" }] });
    }
    expect(line.heard).toHaveLength(2);
  });

  it("carries the largest request that there may be, as the first one on a connection and later", async () => {
    for (const _ of [1, 2]) {
      const largest = client.getSession({ sessionId: LONGEST_ID });
      const line = peer.lines[0] ?? (await peer.nextLine());
      const { call, kind } = await line.next();
      expect(kind.case === "begin" && kind.value.request.length).toBe(MAXIMUM_BYTES);
      line.send(call, [new Uint8Array()], {});
      expect((await largest).session).toBeUndefined();
    }
  });
});
