import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { HlvmError } from "@hlvm/errors/hlvm-error";
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
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { newTraceId } from "@hlvm/rpc/call-context";
import { connectionLimits } from "@hlvm/rpc/server/connection-limits";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { runService, type RunningService } from "@hlvm/service/run-service";
import { Sweeper } from "@hlvm/service/sweeper";
import { connectMesh } from "./adapters/mesh/connect-mesh.ts";
import { PostgresEventLog } from "./adapters/postgres/postgres-event-log.ts";
import { PostgresSessionStore } from "./adapters/postgres/postgres-session-store.ts";
import { PostgresUnreconciledRuns } from "./adapters/postgres/postgres-unreconciled-runs.ts";
import { PostgresWakeups } from "./adapters/postgres/postgres-wakeups.ts";
import { readOrchestratorConfig, type Config } from "./config.ts";
import { DeltaWriter } from "./domain/log/delta-writer.ts";
import { TOOL_RESULT_LENGTH } from "./domain/loop/limits.ts";
import type { Mesh } from "./domain/loop/ports.ts";
import { endAbandonedRuns } from "./domain/run/end-abandoned-runs.ts";
import { executeRun } from "./domain/run/execute-run.ts";
import { reconcileRuns } from "./domain/run/reconcile-runs.ts";
import { RunRegistry } from "./domain/run/run-registry.ts";
import { sessionRoutes } from "./rpc/routes.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));
const STATELESS_KEPT_SECONDS = 60;
const SWEEP_MILLISECONDS = 5_000;

await runService("orchestrator", (log, environment) => startOrchestrator(readOrchestratorConfig(environment), log));

async function startOrchestrator(config: Config, log: Log): Promise<RunningService> {
  const minter = new TokenMinter(readSigningKey(config.tokenSigningKey));
  const publicKeys = readPublicKeys(config.tokenPublicKeys);
  const database = new Database(config.databaseUrl, log);
  await migrate(database, MIGRATIONS);
  const grown = await Notifications.open(config.databaseUrl, "session_event", log);
  const cancelled = await Notifications.open(config.databaseUrl, "run_cancel", log);

  const wakeups = new PostgresWakeups(grown, log);
  const onAppend = (sessionId: string, events: readonly Event[]): void => wakeups.appended(sessionId, events);
  const store = new PostgresSessionStore(database, onAppend);
  const eventLog = new PostgresEventLog(database, onAppend);
  const deltas = new DeltaWriter(eventLog);
  const runs = new RunRegistry(store);
  cancelled.onPayload((runId) => runs.cancel(runId));
  const mesh = connectMesh(config, minter);
  const delegations = new DelegationVerifier(publicKeys);
  const sweep = async (): Promise<void> => {
    const ended = await endAbandonedRuns(store, eventLog, randomUUID);
    if (ended > 0) log.warn({ ended }, "ended runs that nobody held any more");
    await store.deleteStateless(STATELESS_KEPT_SECONDS);
  };
  await sweep();
  const closing = new AbortController();
  const unreconciled = new PostgresUnreconciledRuns(database);
  const callFor = (delegation: string): Mesh =>
    mesh({ principal: delegations.verify(delegation).principal, delegation, traceId: newTraceId() });
  const reconcile = (): Promise<void> => reconcileRuns(unreconciled, callFor, log, closing.signal);
  const sweepers = [new Sweeper(sweep, SWEEP_MILLISECONDS, log), new Sweeper(reconcile, SWEEP_MILLISECONDS, log)];

  const limits = {
    turns: config.maximumTurns,
    toolCallsPerTurn: config.maximumToolCalls,
    identicalCallsInARow: config.maximumIdenticalCalls,
    modelSilenceMilliseconds: config.modelSilenceSeconds * 1_000,
    modelMilliseconds: config.modelSeconds * 1_000,
    runMilliseconds: config.runSeconds * 1_000,
    outcomeMilliseconds: config.outcomeSeconds * 1_000,
    toolResultLength: TOOL_RESULT_LENGTH,
  };
  const server = await startRpcServer({
    host: config.host,
    port: config.port,
    limits: connectionLimits(config.connectionAgeSeconds),
    log,
    services: [SessionService.typeName],
    authenticate: new TokenVerifier("orchestrator", publicKeys),
    routes: sessionRoutes({
      store,
      log: eventLog,
      wakeups,
      runs,
      delegations,
      mesh,
      execute: (run, controller) => executeRun(run, { eventLog, deltas }, limits, log, controller),
      closing: closing.signal,
    }),
  });
  return {
    port: server.port,
    close: async () => {
      await runs.close();
      closing.abort(stopping());
      await Promise.all(sweepers.map((sweeper) => sweeper.close()));
      await server.close();
      await wakeups.close();
      await Promise.all([grown.close(), cancelled.close()]);
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
