import type { Delegation } from "@hlvm/identity/delegation";
import type { DelegationVerifier } from "@hlvm/identity/delegation-verifier";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import type { Log } from "@hlvm/log/create-log";
import { Sweeper } from "@hlvm/service/sweeper";
import { gauge } from "@hlvm/telemetry/instrument";
import type { connectMesh } from "./adapters/mesh/connect-mesh.ts";
import { meshAnswers } from "./adapters/mesh/mesh-answers.ts";
import type { Config } from "./config.ts";
import { ConfiguredBudgets } from "./domain/budget/configured-budgets.ts";
import { DeltaWriter } from "./domain/log/delta-writer.ts";
import type { Limits } from "./domain/loop/limits.ts";
import { AnsweredRuns } from "./domain/run/answered-runs.ts";
import type { BegunRun } from "./domain/run/begun-run.ts";
import { continueRun, type ContinuePorts } from "./domain/run/continue-run.ts";
import { executeRun } from "./domain/run/execute-run.ts";
import { RunInboxes } from "./domain/run/run-inboxes.ts";
import { RunRegistry } from "./domain/run/run-registry.ts";
import type { WorkerPorts } from "./domain/workers/begin-worker.ts";
import type { Stores } from "./open-stores.ts";

/** Three of them fit into a lease. */
const HEARTBEAT_MILLISECONDS = 1_000;

export interface RunsParts {
  readonly config: Config;
  readonly limits: Limits;
  readonly stores: Stores;
  readonly mesh: ReturnType<typeof connectMesh>;
  readonly delegations: DelegationVerifier;
  readonly narrow: WorkerPorts["narrow"];
  readonly minter: TokenMinter;
  readonly log: Log;
}

export interface StartedRuns {
  readonly registry: RunRegistry;
  readonly inboxes: RunInboxes;
  readonly execute: (run: BegunRun, controller: AbortController) => Promise<void>;
  /** Hands every run over. */
  readonly close: () => Promise<void>;
  /** After it nothing is claimed any more, and the leases of this process are not renewed. */
  readonly closeHeart: () => Promise<void>;
}

/** Executes the runs of this process, and goes on with those that were left behind, answered, or wait for room. */
export async function startRuns({ config, limits, stores, mesh, delegations, narrow, minter, log }: RunsParts): Promise<StartedRuns> {
  const { sessions, eventLog, attached, claims, budgets, usage, wakeups } = stores;
  const registry = new RunRegistry({ claims, queue: stores.queue, maximum: config.maximumRuns, onRoom: () => heart.hurry() });
  gauge("hlvm.runs.queued", "Runs that wait until there is room for them, in all processes.", "{run}", (result) =>
    result.observe(registry.queued),
  );
  const inboxes = new RunInboxes(stores.messages);
  const configuredBudgets = new ConfiguredBudgets(budgets);
  const verifyDelegation = (text: string): Delegation => delegations.verify(text);
  const meshFor: ContinuePorts["meshFor"] = ({ delegation, text }) => mesh({ principal: delegation.principal, delegation: text });
  const ports = {
    verifyDelegation,
    meshFor,
    eventLog,
    attached,
    deltas: new DeltaWriter(eventLog),
    claims,
    inboxes,
    budgets,
    configuredBudgets,
    usage,
    limits,
    log,
    draining: registry.draining,
    asksInDoubt: config.inDoubt === "ask",
  };
  const execute = (run: BegunRun, controller: AbortController): Promise<void> =>
    executeRun(run, { ...ports, answers: answered, workers }, controller);
  const workers: WorkerPorts = {
    store: sessions,
    budgets,
    log: eventLog,
    wakeups,
    runs: registry,
    narrow,
    meshFor: mesh,
    execute,
    maximumDepth: config.workerDepth,
    maximumAtOnce: config.maximumWorkers,
  };
  const { serviceMilliseconds } = limits;
  const continuing: ContinuePorts = { eventLog, claims, verifyDelegation, serviceMilliseconds, meshFor, execute, log };
  const lookForOthers = async (): Promise<void> => {
    wakeups.hasOthers = await claims.hasOthers();
  };
  const beat = async (): Promise<void> => {
    await Promise.all([registry.renew(), configuredBudgets.refresh(), lookForOthers()]);
    // There may be more than are claimed at once.
    while ((await registry.takeOver((run, controller) => continueRun(run, continuing, controller))) > 0);
  };
  stores.cancelled.onPayload((runId) => registry.cancel(runId));
  await Promise.all([registry.renew(), configuredBudgets.refresh()]);
  const heart = new Sweeper(beat, HEARTBEAT_MILLISECONDS, log);
  // A run that waits for a person, and that nobody holds, may be interrupted.
  stores.sent.onPayload((runId) => inboxes.wake(runId) || heart.hurry());
  stores.sent.onReconnect(() => inboxes.wakeAll());
  const watchAnswers = meshAnswers(config.policyUrl, minter);
  const answered = new AnsweredRuns({ watchAnswers, claims, onWoken: () => heart.hurry(), log });
  return {
    registry,
    inboxes,
    execute,
    close: async () => {
      await answered.close();
      await registry.close();
    },
    closeHeart: () => heart.close(),
  };
}
