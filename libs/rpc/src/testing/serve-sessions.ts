import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import type { ConnectionLimits } from "../server/connection-limits.ts";
import { startRpcServer, type RpcServer } from "../start-rpc-server.ts";

export interface ServedSessions extends RpcServer {
  readonly url: string;
  readonly token: string;
  /** With which it takes a call: the test principal's token. */
  readonly headers: { readonly authorization: string };
}

/** A server of the mesh whose SessionService does what the test says. */
export async function serveSessions(
  methods: Partial<ServiceImpl<typeof SessionService>>,
  { moreRoutes, limits }: { readonly moreRoutes?: (router: ConnectRouter) => void; readonly limits?: ConnectionLimits } = {},
): Promise<ServedSessions> {
  const { minter, verifier } = await createTestIdentity();
  const token = minter.mint(testPrincipal, "orchestrator");
  const server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    services: [SessionService.typeName],
    authenticate: verifier("orchestrator"),
    limits,
    routes: (router) => {
      router.service(SessionService, methods);
      moreRoutes?.(router);
    },
  });
  return { ...server, url: `http://127.0.0.1:${server.port}`, token, headers: { authorization: `Bearer ${token}` } };
}
