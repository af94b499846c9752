import type { DelegationSigner } from "@hlvm/identity/delegation-signer";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import type { Log } from "@hlvm/log/create-log";
import { WatchService } from "@hlvm/proto/hlvm/watch/v1/watch_pb";
import { connectionLimits } from "@hlvm/rpc/server/connection-limits";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { OrchestratorModelCalls } from "./adapters/orchestrator-model-calls.ts";
import { OrchestratorRuns } from "./adapters/orchestrator-runs.ts";
import { PolicyTeams } from "./adapters/policy-teams.ts";
import { RememberedTeams } from "./adapters/remembered-teams.ts";
import { createDelegateRun } from "./domain/delegate-run.ts";
import type { Admitted, Admission } from "./http/admission.ts";
import { httpEndpoints } from "./http/http-endpoints.ts";
import { PageFiles } from "./http/page-files.ts";
import type { Request } from "./http/read-body.ts";
import { authenticatedInterceptor } from "./rpc/authenticated-interceptor.ts";
import type { Backends } from "./rpc/backends.ts";
import { PUBLIC_SERVICES } from "./rpc/public-methods.ts";
import { routes } from "./rpc/routes.ts";
import { watchMethod } from "./rpc/watch.ts";

export interface EdgeParts {
  readonly host: string;
  readonly port: number;
  readonly connectionAgeSeconds: number;
  readonly admission: Admission;
  /** With the built page; empty: there is none. */
  readonly webDirectory: string;
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
  admission,
  webDirectory,
  minter,
  delegations,
  backends,
  log,
}: EdgeParts): Promise<RpcServer> {
  const teams = new PolicyTeams(backends.policy.transport, minter);
  const delegate = createDelegateRun(delegations, teams);
  const { orchestrator } = backends;
  const callers = new WeakMap<Request, Admitted>();
  return startRpcServer({
    host,
    port,
    limits: connectionLimits(connectionAgeSeconds),
    log,
    services: [...PUBLIC_SERVICES.map(({ service }) => service.typeName), WatchService.typeName],
    authenticate: authenticatedInterceptor(callers),
    before: httpEndpoints({
      admission,
      files: new PageFiles(webDirectory),
      log,
      onAdmitted: (request, admitted) => callers.set(request, admitted),
      modelCalls: new OrchestratorModelCalls({ backends, minter, delegations, teams: new RememberedTeams(teams) }),
      runsOf: (principal) => new OrchestratorRuns({ orchestrator, minter, delegate, log }, principal),
    }),
    routes: (router) => {
      routes(router, { backends, minter, delegate });
      router.rpc(WatchService.method.watch, watchMethod(backends, minter));
    },
  });
}
