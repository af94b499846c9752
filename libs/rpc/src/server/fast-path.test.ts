import { once } from "node:events";
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from "node:http2";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { serveSessions, type ServedSessions } from "../testing/serve-sessions.ts";
import { CallHandling } from "./call-handling.ts";

const PATH = "/hlvm.session.v1.SessionService";
const UNARY = { ":path": `${PATH}/ListSessions`, "content-type": "application/proto" };
const STREAM = { ":path": `${PATH}/Watch`, "content-type": "application/connect+proto" };

let server: ServedSessions;
let session: ClientHttp2Session;
let handled: unknown[];

beforeEach(async () => {
  handled = [];
  server = await serveSessions({
    listSessions: (_request, context) => {
      handled.push(context);
      return { sessions: [{ title: "x".repeat(2_000) }] };
    },
    watch: async function* (_request, context) {
      handled.push(context);
      yield {};
    },
  });
  session = connect(server.url);
});

afterEach(async () => {
  session.destroy();
  await server.close();
});

interface Answer {
  readonly headers: IncomingHttpHeaders & { ":status"?: number };
  readonly body: Buffer;
}

async function request(headers: Readonly<Record<string, string>>, body: Uint8Array): Promise<Answer> {
  const stream = session.request({ ":method": "POST", ...server.headers, ...headers });
  stream.end(body);
  const [answer] = (await once(stream, "response")) as [Answer["headers"]];
  return { headers: answer, body: Buffer.concat(await stream.toArray()) };
}

/** The JSON of the message that ends a stream. */
function endOf({ body }: Answer): { error?: { code: string } } {
  let rest = body;
  while (rest[0] === 0) rest = rest.subarray(5 + rest.readUInt32BE(1));
  return JSON.parse(rest.subarray(5).toString()) as { error?: { code: string } };
}

describe("the fast path", () => {
  it("leaves other encodings to Connect's adapter, which answers them", async () => {
    for (const useBinaryFormat of [true, false]) {
      const transport = createConnectTransport({ baseUrl: server.url, httpVersion: "2", useBinaryFormat });
      const { sessions } = await createClient(SessionService, transport).listSessions({}, { headers: server.headers });
      expect(sessions[0]!.title).toHaveLength(2_000);
    }
    expect(handled.map((context) => context instanceof CallHandling)).toEqual([false, false]);
    expect((await request(UNARY, new Uint8Array())).headers[":status"]).toBe(200);
    expect(handled[2]).toBeInstanceOf(CallHandling);
  });

  it("says what is wrong with paths and types that it does not know, as Connect's adapter does", async () => {
    expect((await request({ ...UNARY, ":path": "/nobody.Service/Nothing" }, new Uint8Array())).headers[":status"]).toBe(404);
    expect((await request({ ...UNARY, "content-type": "text/plain" }, new Uint8Array())).headers[":status"]).toBe(415);
    expect((await request({ ...STREAM, "content-type": "application/proto" }, new Uint8Array())).headers[":status"]).toBe(415);
  });

  it("refuses deadlines that are none or too long, and streams without their one message", async () => {
    for (const deadline of ["soon", "99999999999", "3600001"]) {
      const { headers, body } = await request({ ...UNARY, "connect-timeout-ms": deadline }, new Uint8Array());
      expect([headers[":status"], JSON.parse(body.toString())]).toEqual([400, expect.objectContaining({ code: "invalid_argument" })]);
    }
    const message = encodeEnvelope(0, new Uint8Array());
    expect(endOf(await request(STREAM, new Uint8Array()))).toMatchObject({ error: { code: "unimplemented" } });
    expect(endOf(await request(STREAM, Buffer.concat([message, message])))).toMatchObject({ error: { code: "unimplemented" } });
    expect(endOf(await request(STREAM, message.subarray(0, 3)))).toMatchObject({ error: { code: "invalid_argument" } });
    expect(endOf(await request(STREAM, encodeEnvelope(1, new Uint8Array(9))))).toMatchObject({ error: { code: "internal" } });
    expect(handled).toEqual([]);
  });

  it("answers whatever bytes come with a result or an error, and goes on", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.boolean(), async (bytes, isEnveloped) => {
        expect((await request(UNARY, bytes)).headers[":status"]).toBeGreaterThanOrEqual(200);
        expect(endOf(await request(STREAM, isEnveloped ? encodeEnvelope(0, bytes) : bytes))).toBeTypeOf("object");
      }),
      { numRuns: 100 },
    );
    expect((await request(UNARY, new Uint8Array())).headers[":status"]).toBe(200);
  });

  it("never handles a request whose caller went before its end", async () => {
    const other = connect(server.url);
    const stream = other.request({ ":method": "POST", ...server.headers, ...UNARY });
    stream.on("error", () => undefined);
    // A whole message already, had the body ended here.
    await new Promise((resolve) => stream.write(Buffer.from([8, 1]), resolve));
    await new Promise((resolve) => other.ping(resolve));
    other.destroy();
    await once(other, "close");
    for (let index = 0; index < 10; index++) expect((await request(UNARY, new Uint8Array())).headers[":status"]).toBe(200);
    expect(handled).toHaveLength(10);
  });
});
