import type { Interceptor } from "@connectrpc/connect";
import type { Principal } from "@hlvm/identity/principal";
import type { DelegationSigner } from "@hlvm/identity/delegation-signer";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import type { Log } from "@hlvm/log/create-log";
import { callerKey, callerOf, requestKey } from "@hlvm/rpc/call-context";
import { connectionLimits } from "@hlvm/rpc/server/connection-limits";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { OrchestratorRuns } from "./adapters/orchestrator-runs.ts";
import { createDelegateRun } from "./domain/delegate-run.ts";
import type { Authenticator } from "./domain/authenticator.ts";
import { httpEndpoints } from "./http/http-endpoints.ts";
import type { Request } from "./http/read-body.ts";
import type { Backends } from "./rpc/backends.ts";
import { PUBLIC_SERVICES } from "./rpc/public-methods.ts";
import { routes } from "./rpc/routes.ts";

export interface EdgeParts {
  readonly host: string;
  readonly port: number;
  readonly connectionAgeSeconds: number;
  readonly authenticator: Authenticator;
  readonly minter: TokenMinter;
  readonly delegations: DelegationSigner;
  readonly backends: Backends;
  readonly log: Log;
}

/** Everything public on one port. */
export function startEdge({
  host,
  port,
  connectionAgeSeconds,
  authenticator,
  minter,
  delegations,
  backends,
  log,
}: EdgeParts): Promise<RpcServer> {
  const delegate = createDelegateRun(delegations);
  const { orchestrator } = backends;
  const principals: Principals = new WeakMap();
  return startRpcServer({
    host,
    port,
    limits: connectionLimits(connectionAgeSeconds),
    log,
    services: PUBLIC_SERVICES.map(({ service }) => service.typeName),
    authenticate: authenticatedInterceptor(principals),
    before: httpEndpoints({
      authenticator,
      log,
      onAuthenticated: (request, principal) => principals.set(request, principal),
      runsOf: (principal) => new OrchestratorRuns({ orchestrator, minter, delegate, log }, principal),
    }),
    routes: (router) => routes(router, { backends, minter, delegate }),
  });
}

/** Who sends a request, found out before any of its body is read. */
type Principals = WeakMap<Request, Principal>;

/** Lets no call through whose request was not authenticated. */
function authenticatedInterceptor(principals: Principals): Interceptor {
  return (next) => (call) => {
    const principal = principals.get(call.contextValues.get(requestKey)!);
    if (principal === undefined) throw new Error("a call came by without being authenticated");
    call.contextValues.set(callerKey, callerOf({ principal }));
    return next(call);
  };
}
