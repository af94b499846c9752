import { Code, createClient, type Interceptor } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { createMeshTransport } from "../create-mesh-transport.ts";
import { startRpcServer, type RpcServer } from "../start-rpc-server.ts";

const NO_DEADLINE = 0;

let server: RpcServer;
let token: string;

beforeEach(async () => {
  const { minter, verifier } = await createTestIdentity();
  token = await minter.mint(testPrincipal);
  server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    services: [],
    authenticate: verifier,
    routes: (router) =>
      router.service(SessionService, {
        listSessions: () => ({ sessions: [] }),
        watch: async function* (_request, context) {
          yield { events: [{ sequence: BigInt(context.timeoutMs() ?? 0) }] };
        },
      }),
  });
});

afterEach(() => server.close());

it("lets interceptors set headers and see errors, and keeps a call without a deadline without one", async () => {
  const seen: string[] = [];
  const authorize: Interceptor = (next) => async (request) => {
    if (seen.length < 2) request.header.set("authorization", `Bearer ${token}`);
    seen.push(request.url);
    return next(request);
  };
  const url = `http://127.0.0.1:${server.port}`;
  const client = createClient(SessionService, createMeshTransport(url, [authorize]));
  expect(await client.listSessions({}, { timeoutMs: NO_DEADLINE })).toMatchObject({ sessions: [] });
  const sequences: bigint[] = [];
  for await (const { events } of client.watch({ sessionId: "00000000-0000-4000-8000-000000000001" }, { timeoutMs: NO_DEADLINE }))
    sequences.push(events[0]!.sequence);
  expect(sequences).toEqual([0n]);
  await expect(client.listSessions({})).rejects.toMatchObject({ code: Code.Unauthenticated });
  expect(seen[0]).toBe(`${url}/hlvm.session.v1.SessionService/ListSessions`);
});
