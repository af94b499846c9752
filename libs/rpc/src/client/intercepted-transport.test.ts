import { Code, createClient, type Interceptor } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createDoorTransport } from "../create-door-transport.ts";
import { serveSessions, type ServedSessions } from "../testing/serve-sessions.ts";

const NO_DEADLINE = 0;

let server: ServedSessions;

beforeEach(async () => {
  server = await serveSessions({
    listSessions: () => ({ sessions: [] }),
    watch: async function* (_request, context) {
      yield { events: [{ sequence: BigInt(context.timeoutMs() ?? 0) }] };
    },
  });
});

afterEach(() => server.close());

it("lets interceptors set headers and see errors, and keeps a call without a deadline without one", async () => {
  const seen: string[] = [];
  const authorize: Interceptor = (next) => async (request) => {
    if (seen.length < 2) request.header.set("authorization", server.headers.authorization);
    seen.push(request.url);
    return next(request);
  };
  const client = createClient(SessionService, createDoorTransport(server.url, [authorize]));
  expect(await client.listSessions({}, { timeoutMs: NO_DEADLINE })).toMatchObject({ sessions: [] });
  const sequences: bigint[] = [];
  for await (const { events } of client.watch({ sessionId: "00000000-0000-4000-8000-000000000001" }, { timeoutMs: NO_DEADLINE }))
    sequences.push(events[0]!.sequence);
  expect(sequences).toEqual([0n]);
  await expect(client.listSessions({})).rejects.toMatchObject({ code: Code.Unauthenticated });
  expect(seen[0]).toBe(`${server.url}/hlvm.session.v1.SessionService/ListSessions`);
});
