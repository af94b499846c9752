import { once } from "node:events";
import { connect, constants } from "node:http2";
import { Code, createClient } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@hlvm/proto/grpc/health/v1/health_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { CONNECTION_LIMITS } from "./server/connection-limits.ts";
import { failureOf } from "./testing/failure-of.ts";
import { serveSessions, type ServedSessions } from "./testing/serve-sessions.ts";

const KNOWN = ["", "liveness", "readiness", SessionService.typeName];
const AGE_MILLISECONDS = 200;

let server: ServedSessions;
let gate: PromiseWithResolvers<void>;
let begun: PromiseWithResolvers<void>;

beforeEach(async () => {
  [gate, begun] = [Promise.withResolvers(), Promise.withResolvers()];
  server = await serveSessions(
    {
      listSessions: async () => {
        begun.resolve();
        await gate.promise;
        return {};
      },
    },
    { limits: { ...CONNECTION_LIMITS, ageMilliseconds: AGE_MILLISECONDS } },
  );
});
afterEach(() => server.close());

async function healthOf(service: string): Promise<Status> {
  const { status } = await createClient(Health, createMeshTransport(server.url)).check({ service }, { headers: server.headers });
  return status;
}

describe("the health of a server", () => {
  it("is asked by the name of what is asked for, and of no other", async () => {
    for (const service of KNOWN) expect(await healthOf(service)).toBe(Status.SERVING);
    expect((await failureOf(healthOf("nobody"))).code).toBe(Code.NotFound);
  });

  it("is that it lives and serves nothing, from the moment it closes and before it takes no connection", async () => {
    const closing = server.close();
    const asked = await Promise.all(KNOWN.map(healthOf));
    expect(asked).toEqual([Status.NOT_SERVING, Status.SERVING, Status.NOT_SERVING, Status.NOT_SERVING]);
    await closing;
    expect((await failureOf(healthOf(""))).code).toBe(Code.Unavailable);
  });
});

it("says GOAWAY to a connection of its age, and lets the call under way end", async () => {
  const session = connect(server.url);
  const goaway = once(session, "goaway");
  const stream = session.request({
    ":method": "POST",
    ":path": `/${SessionService.typeName}/ListSessions`,
    "content-type": "application/json",
    ...server.headers,
  });
  stream.end("{}");
  await begun.promise;
  const [code] = await goaway;
  expect(code).toBe(constants.NGHTTP2_NO_ERROR);
  gate.resolve();
  const [headers] = (await once(stream, "response")) as [{ ":status": number }];
  expect(headers[":status"]).toBe(200);
  stream.resume();
  await once(session, "close");
});
