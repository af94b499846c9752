import type { ServiceImpl } from "@connectrpc/connect";
import { SandboxMovedSchema, SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { Code, ConnectError } from "@connectrpc/connect";
import type { TestIdentity } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";

/** A replica of the sandbox service that does what the test says. */
export async function serveSandbox(
  identity: TestIdentity,
  methods: Partial<ServiceImpl<typeof SandboxService>>,
): Promise<RpcServer & { readonly url: string }> {
  const server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    services: [SandboxService.typeName],
    authenticate: identity.verifier("sandbox"),
    routes: (router) => void router.service(SandboxService, methods),
  });
  return { ...server, url: `http://127.0.0.1:${server.port}` };
}

/** What a replica says that does not hold the session. */
export function moved(address: string): ConnectError {
  const detail = { desc: SandboxMovedSchema, value: { address, epoch: 1n } };
  return new ConnectError("The session is elsewhere.", Code.FailedPrecondition, undefined, [detail]);
}
