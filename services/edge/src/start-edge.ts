import type { Interceptor } from "@connectrpc/connect";
import type { DelegationSigner } from "@hlvm/identity/delegation-signer";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import type { Log } from "@hlvm/log/create-log";
import { callerKey, callerOf } from "@hlvm/rpc/call-context";
import { connectionLimits } from "@hlvm/rpc/server/connection-limits";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { OrchestratorRuns } from "./adapters/orchestrator-runs.ts";
import { createDelegateRun } from "./domain/delegate-run.ts";
import type { Doorkeeper } from "./domain/doorkeeper.ts";
import { frontDoor } from "./http/front-door.ts";
import type { Backends } from "./rpc/backends.ts";
import { PUBLIC_SERVICES } from "./rpc/public-methods.ts";
import { routes } from "./rpc/routes.ts";

export interface EdgeParts {
  readonly host: string;
  readonly port: number;
  readonly connectionAgeSeconds: number;
  readonly doorkeeper: Doorkeeper;
  readonly minter: TokenMinter;
  readonly delegations: DelegationSigner;
  readonly backends: Backends;
  readonly log: Log;
}

/** All public doors on one port. */
export function startEdge({
  host,
  port,
  connectionAgeSeconds,
  doorkeeper,
  minter,
  delegations,
  backends,
  log,
}: EdgeParts): Promise<RpcServer> {
  const delegate = createDelegateRun(delegations);
  const { orchestrator } = backends;
  return startRpcServer({
    host,
    port,
    limits: connectionLimits(connectionAgeSeconds),
    log,
    services: PUBLIC_SERVICES.map(({ service }) => service.typeName),
    authenticate: admitInterceptor(doorkeeper),
    before: frontDoor({ doorkeeper, log, runsOf: (principal) => new OrchestratorRuns({ orchestrator, minter, delegate, log }, principal) }),
    routes: (router) => routes(router, { backends, minter, delegate }),
  });
}

/** Lets nobody through whom the doorkeeper does not know. */
function admitInterceptor(doorkeeper: Doorkeeper): Interceptor {
  return (next) => async (request) => {
    const principal = await doorkeeper.admit(request.header.get("authorization") ?? undefined);
    request.contextValues.set(callerKey, callerOf({ principal }));
    return next(request);
  };
}
