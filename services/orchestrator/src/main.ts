import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { DelegationNarrower } from "@hlvm/identity/delegation-narrower";
import type { Delegation } from "@hlvm/identity/delegation";
import { DelegationVerifier } from "@hlvm/identity/delegation-verifier";
import { readPublicKeys } from "@hlvm/identity/public-keys";
import { readSigningKey } from "@hlvm/identity/signing-key";
import { TokenMinter } from "@hlvm/identity/token-minter";
import { TokenVerifier } from "@hlvm/identity/token-verifier";
import type { Log } from "@hlvm/log/create-log";
import { Database } from "@hlvm/postgres/database";
import { migrate } from "@hlvm/postgres/migrate";
import { Notifications } from "@hlvm/postgres/notifications";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ModelCallService } from "@hlvm/proto/hlvm/session/v1/model_call_pb";
import { MemoryWorkService } from "@hlvm/proto/hlvm/session/v1/memory_work_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { SharingService } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
import { SpendingService } from "@hlvm/proto/hlvm/session/v1/spending_pb";
import { connectionLimits } from "@hlvm/rpc/server/connection-limits";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { runService, type RunningService } from "@hlvm/service/run-service";
import { Sweeper } from "@hlvm/service/sweeper";
import { gauge } from "@hlvm/telemetry/instrument";
import { connectMesh } from "./adapters/mesh/connect-mesh.ts";
import { MeshTeams } from "./adapters/mesh/mesh-teams.ts";
import { meshAnswers } from "./adapters/mesh/mesh-answers.ts";
import { PostgresBudgetStore } from "./adapters/postgres/postgres-budget-store.ts";
import { PostgresDoorCalls } from "./adapters/postgres/postgres-door-calls.ts";
import { PostgresAttachedFiles } from "./adapters/postgres/postgres-attached-files.ts";
import { findWorkspaceOwner, PostgresGrantStore } from "./adapters/postgres/postgres-grant-store.ts";
import { PostgresEventLog } from "./adapters/postgres/postgres-event-log.ts";
import { PostgresMemoryWork } from "./adapters/postgres/postgres-memory-work.ts";
import { PostgresRunMessages } from "./adapters/postgres/postgres-run-messages.ts";
import { PostgresRunClaims } from "./adapters/postgres/postgres-run-claims.ts";
import { PostgresRunQueue } from "./adapters/postgres/postgres-run-queue.ts";
import { PostgresSessionStore } from "./adapters/postgres/postgres-session-store.ts";
import { PostgresUnreconciledRuns } from "./adapters/postgres/postgres-unreconciled-runs.ts";
import { PostgresUsageLog } from "./adapters/postgres/postgres-usage-log.ts";
import { PostgresWakeups } from "./adapters/postgres/postgres-wakeups.ts";
import { readOrchestratorConfig, type Config } from "./config.ts";
import { ConfiguredBudgets } from "./domain/budget/configured-budgets.ts";
import { settleLostCalls } from "./domain/door/settle-lost-calls.ts";
import { RememberedModels } from "./domain/door/remembered-models.ts";
import { DeltaWriter } from "./domain/log/delta-writer.ts";
import { TOOL_RESULT_LENGTH } from "./domain/loop/limits.ts";
import { MemoryWorker } from "./domain/memory-work/memory-worker.ts";
import { AnsweredRuns } from "./domain/run/answered-runs.ts";
import { continueRun, type ContinuePorts } from "./domain/run/continue-run.ts";
import type { BegunRun } from "./domain/run/begun-run.ts";
import { executeRun } from "./domain/run/execute-run.ts";
import { reconcileRuns } from "./domain/run/reconcile-runs.ts";
import { RunInboxes } from "./domain/run/run-inboxes.ts";
import { RunRegistry } from "./domain/run/run-registry.ts";
import type { WorkerPorts } from "./domain/workers/begin-worker.ts";
import { memoryWorkRoutes } from "./rpc/memory-work-routes.ts";
import { modelCallRoutes, type ModelCallParts } from "./rpc/model-call-routes.ts";
import { sessionRoutes } from "./rpc/routes.ts";
import { sharingRoutes } from "./rpc/sharing-routes.ts";
import { spendingRoutes } from "./rpc/spending-routes.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));
const STATELESS_KEPT_SECONDS = 60;
const SWEEP_MILLISECONDS = 5_000;
const MEMORY_WORK_MILLISECONDS = 2_000;
/** Three of them fit into a lease. */
const HEARTBEAT_MILLISECONDS = 1_000;

await runService("orchestrator", (log, environment) => startOrchestrator(readOrchestratorConfig(environment), log));

async function startOrchestrator(config: Config, log: Log): Promise<RunningService> {
  const signingKey = readSigningKey(config.tokenSigningKey);
  const minter = new TokenMinter(signingKey);
  const narrower = new DelegationNarrower(signingKey);
  const narrow: WorkerPorts["narrow"] = (delegation, narrowing) => narrower.narrow(delegation, narrowing);
  const publicKeys = readPublicKeys(config.tokenPublicKeys);
  const database = new Database(config.databaseUrl, log);
  await migrate(database, MIGRATIONS);
  const grown = await Notifications.open(config.databaseUrl, "session_event", log);
  const cancelled = await Notifications.open(config.databaseUrl, "run_cancel", log);
  const sent = await Notifications.open(config.databaseUrl, "run_message", log);

  const wakeups = new PostgresWakeups(grown, log);
  const onAppend = (sessionId: string, events: readonly Event[]): void => wakeups.appended(sessionId, events);
  const replicaId = randomUUID();
  const store = new PostgresSessionStore(database, replicaId, onAppend, new MeshTeams(config.policyUrl, minter));
  const eventLog = new PostgresEventLog(database, onAppend);
  const attached = new PostgresAttachedFiles(database);
  const deltas = new DeltaWriter(eventLog);
  const claims = new PostgresRunClaims(database, replicaId);
  const runs = new RunRegistry({
    claims,
    queue: new PostgresRunQueue(database, replicaId),
    maximum: config.maximumRuns,
    onRoom: () => heart.hurry(),
  });
  gauge("hlvm.runs.queued", "Runs that wait until there is room for them, in all processes.", "{run}", (result) =>
    result.observe(runs.queued),
  );
  const budgets = new PostgresBudgetStore(database);
  const configuredBudgets = new ConfiguredBudgets(budgets);
  const usage = new PostgresUsageLog(database);
  cancelled.onPayload((runId) => runs.cancel(runId));
  const inboxes = new RunInboxes(new PostgresRunMessages(database));
  const mesh = connectMesh(config, minter, (sessionId) => findWorkspaceOwner(database, sessionId));
  const delegations = new DelegationVerifier(publicKeys);
  const doorCalls = new PostgresDoorCalls(database);
  const sweep = async (): Promise<void> => {
    await store.deleteStateless(STATELESS_KEPT_SECONDS);
    await store.cancelOrphans();
    await claims.forgetGone();
    await settleLostCalls({ calls: doorCalls, auditFor: (delegation) => callFor(delegation).audit, log });
  };
  const closing = new AbortController();
  const unreconciled = new PostgresUnreconciledRuns(database);
  const callFor = (delegation: string): ReturnType<typeof mesh> =>
    mesh({ principal: delegations.verify(delegation).principal, delegation });
  const reconcile = (): Promise<void> => reconcileRuns(unreconciled, callFor, log, closing.signal);
  const limits = {
    turns: config.maximumTurns,
    toolCallsPerTurn: config.maximumToolCalls,
    identicalCallsInARow: config.maximumIdenticalCalls,
    modelSilenceMilliseconds: config.modelSilenceSeconds * 1_000,
    modelMilliseconds: config.modelSeconds * 1_000,
    runMilliseconds: config.runSeconds * 1_000,
    serviceMilliseconds: config.serviceWaitSeconds * 1_000,
    parkMilliseconds: config.parkSeconds * 1_000,
    toolResultLength: TOOL_RESULT_LENGTH,
    outputReserveTokens: config.outputReserveTokens,
    compactionPercent: config.compactionPercent,
  };
  const verifyDelegation = (text: string): Delegation => delegations.verify(text);
  const meshFor: ContinuePorts["meshFor"] = ({ delegation, text }) => mesh({ principal: delegation.principal, delegation: text });
  const ports = {
    verifyDelegation,
    meshFor,
    eventLog,
    attached,
    deltas,
    claims,
    inboxes,
    budgets,
    configuredBudgets,
    usage,
    limits,
    log,
    draining: runs.draining,
    asksInDoubt: config.inDoubt === "ask",
  };
  const execute = (run: BegunRun, controller: AbortController): Promise<void> =>
    executeRun(run, { ...ports, answers: answered, workers }, controller);
  const workers: WorkerPorts = {
    store,
    budgets,
    log: eventLog,
    wakeups,
    runs,
    narrow,
    meshFor: mesh,
    execute,
    maximumDepth: config.workerDepth,
    maximumAtOnce: config.maximumWorkers,
  };
  const continuing: ContinuePorts = {
    eventLog,
    claims,
    verifyDelegation,
    serviceMilliseconds: config.serviceWaitSeconds * 1_000,
    meshFor,
    execute,
    log,
  };
  const lookForOthers = async (): Promise<void> => {
    wakeups.hasOthers = await claims.hasOthers();
  };
  const beat = async (): Promise<void> => {
    await Promise.all([runs.renew(), configuredBudgets.refresh(), lookForOthers()]);
    // There may be more than are claimed at once.
    while ((await runs.takeOver((run, controller) => continueRun(run, continuing, controller))) > 0);
  };
  await Promise.all([runs.renew(), configuredBudgets.refresh()]);
  const heart = new Sweeper(beat, HEARTBEAT_MILLISECONDS, log);
  // A run that waits for a person, and that nobody holds, may be interrupted.
  sent.onPayload((runId) => inboxes.wake(runId) || heart.hurry());
  sent.onReconnect(() => inboxes.wakeAll());
  const answered = new AnsweredRuns({
    watchAnswers: meshAnswers(config.policyUrl, minter),
    claims,
    onWoken: () => heart.hurry(),
    log,
  });
  const sweepers = [heart, new Sweeper(sweep, SWEEP_MILLISECONDS, log), new Sweeper(reconcile, SWEEP_MILLISECONDS, log)];

  const serving = {
    store,
    log: eventLog,
    attached,
    wakeups,
    runs,
    inboxes,
    delegations,
    mesh,
    narrow,
    execute,
    contextLimits: limits,
    closing: closing.signal,
  };
  const rememberedModels = new RememberedModels();
  const doorPorts: ModelCallParts["doorPorts"] = (call) => {
    const { doorModels, audit } = mesh(call);
    return {
      models: rememberedModels.before(doorModels),
      audit,
      calls: doorCalls,
      limits,
      log,
      serviceMilliseconds: config.serviceWaitSeconds * 1_000,
    };
  };
  const memoryWork = new PostgresMemoryWork(database, replicaId);
  if (config.memoryModel !== "") {
    const worker = new MemoryWorker({
      store: memoryWork,
      verifyDelegation,
      narrow: (delegation, narrowing) => narrower.narrow(delegation, narrowing),
      memoryFor: (delegation) => callFor(delegation).modelWork,
      doorPorts: (delegation) => doorPorts({ principal: delegations.verify(delegation).principal, delegation }),
      model: config.memoryModel,
      callsPerMinute: config.memoryCallsPerMinute,
      log,
      stopping: AbortSignal.any([closing.signal, runs.draining]),
    });
    sweepers.push(new Sweeper(() => worker.work(), MEMORY_WORK_MILLISECONDS, log));
  }
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
      sharingRoutes({ ...serving, grants: new PostgresGrantStore(database) })(router);
      modelCallRoutes({ delegations, doorPorts })(router);
      spendingRoutes({ ...serving, budgets, usage })(router);
      memoryWorkRoutes({ store: memoryWork, model: config.memoryModel, delegations, doorPorts })(router);
    },
  });
  return {
    port: server.port,
    close: async () => {
      await answered.close();
      await runs.close();
      closing.abort(stopping());
      await Promise.all(sweepers.map((sweeper) => sweeper.close()));
      await claims.leave().catch((cause: unknown) => log.warn({ err: cause }, "the lease of this process was not ended; it runs out"));
      await server.close();
      await wakeups.close();
      await Promise.all([grown.close(), cancelled.close(), sent.close()]);
      await database.close();
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
