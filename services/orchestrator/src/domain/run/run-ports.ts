import type { Log } from "@hlvm/log/create-log";
import type { BudgetStore } from "../budget/budget-store.ts";
import type { UsageLog } from "../budget/usage-log.ts";
import type { ConfiguredBudgets } from "../budget/configured-budgets.ts";
import type { DeltaWriter } from "../log/delta-writer.ts";
import type { EventLog } from "../log/event-log.ts";
import type { Limits } from "../loop/limits.ts";
import type { AttachedFiles } from "../session/attached-files.ts";
import type { WorkerPorts } from "../workers/begin-worker.ts";
import type { AnsweredRuns } from "./answered-runs.ts";
import type { RedelegatePorts } from "./redelegate-run.ts";
import type { RunClaims } from "./run-claims.ts";
import type { RunInboxes } from "./run-inboxes.ts";

/** What all runs of a process share. */
export interface RunPorts {
  readonly eventLog: EventLog;
  readonly attached: AttachedFiles;
  readonly deltas: DeltaWriter;
  readonly claims: Pick<RunClaims, "release" | "park" | "delegate">;
  readonly inboxes: Pick<RunInboxes, "open">;
  readonly verifyDelegation: RedelegatePorts["verifyDelegation"];
  readonly meshFor: RedelegatePorts["meshFor"];
  readonly budgets: Pick<BudgetStore, "reserve">;
  readonly configuredBudgets: ConfiguredBudgets;
  readonly usage: Pick<UsageLog, "lastCall">;
  readonly asksInDoubt: boolean;
  readonly answers: Pick<AnsweredRuns, "isWatching" | "parked">;
  readonly limits: Limits;
  readonly workers: WorkerPorts;
  readonly log: Log;
  /** Aborted with an Interruption when the process ends. */
  readonly draining: AbortSignal;
}
