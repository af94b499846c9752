import { randomUUID } from "node:crypto";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { DelegationNarrower } from "@hlvm/identity/delegation-narrower";
import { DelegationVerifier } from "@hlvm/identity/delegation-verifier";
import { readPublicKeys } from "@hlvm/identity/public-keys";
import { readSigningKey } from "@hlvm/identity/signing-key";
import { TokenMinter } from "@hlvm/identity/token-minter";
import { TokenVerifier } from "@hlvm/identity/token-verifier";
import type { Log } from "@hlvm/log/create-log";
import { ModelCallService } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import { MemoryWorkService } from "@hlvm/proto/hlvm/session/v1/memory_work_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { SharingService } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import { SpendingService } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { connectionLimits } from "@hlvm/rpc/server/connection-limits";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { runService, type RunningService } from "@hlvm/service/run-service";
import { Sweeper } from "@hlvm/service/sweeper";
import { connectMesh } from "./adapters/mesh/connect-mesh.ts";
import { MeshTeams } from "./adapters/mesh/mesh-teams.ts";
import { findWorkspaceOwner } from "./adapters/postgres/postgres-grant-store.ts";
import { readOrchestratorConfig, runLimits, type Config } from "./config.ts";
import { RememberedModels } from "./domain/door/remembered-models.ts";
import { settleLostCalls } from "./domain/door/settle-lost-calls.ts";
import { MemoryWorker } from "./domain/memory-work/memory-worker.ts";
import { reconcileRuns } from "./domain/run/reconcile-runs.ts";
import type { WorkerPorts } from "./domain/workers/begin-worker.ts";
import { openStores } from "./open-stores.ts";
import { memoryWorkRoutes } from "./rpc/memory-work-routes.ts";
import { modelCallRoutes, type ModelCallParts } from "./rpc/model-call-routes.ts";
import { sessionRoutes } from "./rpc/routes.ts";
import { sharingRoutes } from "./rpc/sharing-routes.ts";
import { spendingRoutes } from "./rpc/spending-routes.ts";
import { startRuns } from "./start-runs.ts";

const STATELESS_KEPT_SECONDS = 60;
const SWEEP_MILLISECONDS = 5_000;
const MEMORY_WORK_MILLISECONDS = 2_000;

await runService("orchestrator", (log, environment) => startOrchestrator(readOrchestratorConfig(environment), log));

async function startOrchestrator(config: Config, log: Log): Promise<RunningService> {
  const signingKey = readSigningKey(config.tokenSigningKey);
  const minter = new TokenMinter(signingKey);
  const narrower = new DelegationNarrower(signingKey);
  const narrow: WorkerPorts["narrow"] = (delegation, narrowing) => narrower.narrow(delegation, narrowing);
  const publicKeys = readPublicKeys(config.tokenPublicKeys);
  const delegations = new DelegationVerifier(publicKeys);
  const stores = await openStores({ config, log, replicaId: randomUUID(), teams: new MeshTeams(config.policyUrl, minter) });
  const { sessions, doorCalls, memoryWork } = stores;
  const mesh = connectMesh(config, minter, (sessionId) => findWorkspaceOwner(stores.database, sessionId));
  const callFor = (delegation: string): ReturnType<typeof mesh> =>
    mesh({ principal: delegations.verify(delegation).principal, delegation });
  const limits = runLimits(config);
  const runs = await startRuns({ config, limits, stores, mesh, delegations, narrow, minter, log });

  const closing = new AbortController();
  const sweep = async (): Promise<void> => {
    await sessions.deleteStateless(STATELESS_KEPT_SECONDS);
    await sessions.cancelOrphans();
    await stores.claims.forgetGone();
    await settleLostCalls({ calls: doorCalls, auditFor: (delegation) => callFor(delegation).audit, log });
  };
  const reconcile = (): Promise<void> => reconcileRuns(stores.unreconciled, callFor, log, closing.signal);
  const sweepers = [new Sweeper(sweep, SWEEP_MILLISECONDS, log), new Sweeper(reconcile, SWEEP_MILLISECONDS, log)];

  const rememberedModels = new RememberedModels();
  const doorPorts: ModelCallParts["doorPorts"] = (call) => {
    const { doorModels, audit } = mesh(call);
    const { serviceMilliseconds } = limits;
    return { models: rememberedModels.before(doorModels), audit, calls: doorCalls, limits, log, serviceMilliseconds };
  };
  if (config.memoryModel !== "") {
    const worker = new MemoryWorker({
      store: memoryWork,
      verifyDelegation: (text) => delegations.verify(text),
      narrow: (delegation, narrowing) => narrower.narrow(delegation, narrowing),
      memoryFor: (delegation) => callFor(delegation).modelWork,
      doorPorts: (delegation) => doorPorts({ principal: delegations.verify(delegation).principal, delegation }),
      model: config.memoryModel,
      callsPerMinute: config.memoryCallsPerMinute,
      log,
      stopping: AbortSignal.any([closing.signal, runs.registry.draining]),
    });
    sweepers.push(new Sweeper(() => worker.work(), MEMORY_WORK_MILLISECONDS, log));
  }

  const serving = {
    store: sessions,
    log: stores.eventLog,
    attached: stores.attached,
    wakeups: stores.wakeups,
    runs: runs.registry,
    inboxes: runs.inboxes,
    delegations,
    mesh,
    narrow,
    execute: runs.execute,
    contextLimits: limits,
    closing: closing.signal,
  };
  const server = await startRpcServer({
    host: config.host,
    port: config.port,
    limits: connectionLimits(config.connectionAgeSeconds),
    log,
    services: [
      MemoryWorkService.typeName,
      ModelCallService.typeName,
      SessionService.typeName,
      SharingService.typeName,
      SpendingService.typeName,
    ],
    authenticate: new TokenVerifier("orchestrator", publicKeys),
    routes: (router) => {
      sessionRoutes(serving)(router);
      sharingRoutes({ ...serving, grants: stores.grants })(router);
      modelCallRoutes({ delegations, doorPorts })(router);
      spendingRoutes({ ...serving, budgets: stores.budgets, usage: stores.usage })(router);
      memoryWorkRoutes({ store: memoryWork, model: config.memoryModel, delegations, doorPorts })(router);
    },
  });
  return {
    port: server.port,
    close: async () => {
      await runs.close();
      closing.abort(stopping());
      await Promise.all([runs.closeHeart(), ...sweepers.map((sweeper) => sweeper.close())]);
      const notEnded = "the lease of this process was not ended; it runs out";
      await stores.claims.leave().catch((cause: unknown) => log.warn({ err: cause }, notEnded));
      await server.close();
      await stores.close();
    },
  };
}

function stopping(): HlvmError {
  return new HlvmError({
    code: "unavailable",
    reason: "stopping",
    message: "The orchestrator is stopping.",
    advice: "Watch again in a moment, from the last sequence seen.",
  });
}
