import type { ConnectRouter } from "@connectrpc/connect";
import { DelegationVerifier } from "@hlvm/identity/delegation-verifier";
import { publicKeysOf } from "@hlvm/identity/public-keys";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { TeamResolverService, TokenResolverService } from "@hlvm/proto/hlvm/identity/v1/identity_pb";
import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestIdentity } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { AccessTokenAuthenticator } from "../adapters/access-token-authenticator.ts";
import { LocalAuthenticator } from "../adapters/local-authenticator.ts";
import { PageLogins } from "../domain/page-logins.ts";
import { LocalAdmission } from "../http/local-admission.ts";
import { connectBackends } from "../rpc/backends.ts";
import type { BackendName } from "../rpc/public-methods.ts";
import { startEdge } from "../start-edge.ts";

export const TOKEN = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
export const AUTHORIZATION = { authorization: `Bearer ${TOKEN}` };

/** Everybody's, as policy tells them. */
export const TEAMS = ["platform"];

export interface TestMesh {
  readonly url: string;
  readonly port: number;
  readonly close: () => Promise<void>;
  /** Reads what the edge signed for a run. */
  readonly delegations: DelegationVerifier;
  /** Ends the services behind the edge and leaves the edge. */
  readonly closeBackends: () => Promise<void>;
}

/** A real edge before real servers that stand for all services and verify tokens as they do. */
export async function startTestMesh(routes: (router: ConnectRouter) => void, webDirectory = ""): Promise<TestMesh> {
  const identity = await createTestIdentity();
  const services = [SessionService, PolicyService, AuditService, ModelService, MemoryService].map(({ typeName }) => typeName);
  const forServices = [TokenResolverService.typeName, TeamResolverService.typeName];
  const withTeams = (router: ConnectRouter): void => {
    router.service(TeamResolverService, { resolveTeams: () => ({ teams: TEAMS }) });
    routes(router);
  };
  const start = (name: BackendName): Promise<RpcServer> =>
    startRpcServer({
      host: "127.0.0.1",
      port: 0,
      log: testLog,
      services,
      forServices,
      authenticate: identity.verifier(name),
      routes: withTeams,
    });
  const names = ["orchestrator", "model-gateway", "sandbox", "policy", "memory"] as const satisfies BackendName[];
  const servers = await Promise.all(names.map(start));
  const urls = Object.fromEntries(names.map((name, index) => [name, `http://127.0.0.1:${servers[index]!.port}`]));
  const backends = connectBackends(urls as Record<BackendName, string>);
  const edge = await startEdge({
    host: "127.0.0.1",
    port: 0,
    connectionAgeSeconds: 180,
    admission: new LocalAdmission(
      new PageLogins(new AccessTokenAuthenticator(backends.policy.transport, identity.minter, new LocalAuthenticator(TOKEN, "ada"))),
    ),
    webDirectory,
    minter: identity.minter,
    delegations: identity.delegations,
    backends,
    log: testLog,
  });
  const closeBackends = async (): Promise<void> => void (await Promise.all(servers.map((server) => server.close())));
  return {
    url: `http://127.0.0.1:${edge.port}`,
    port: edge.port,
    delegations: new DelegationVerifier(publicKeysOf(identity.tokenKeys)),
    closeBackends,
    close: async () => {
      await edge.close();
      await closeBackends();
    },
  };
}
