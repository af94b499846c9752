import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Log } from "@hlvm/log/create-log";
import { genAi } from "@hlvm/telemetry/gen-ai-names";
import { inSpan } from "@hlvm/telemetry/span";
import { reconcileRun, type ReconcilePorts } from "./reconcile-run.ts";
import type { UnreconciledRun, UnreconciledRuns } from "./unreconciled-runs.ts";

/**
 * Sees to the runs that are due, one after the other: where this process is killed, another one finds them due again.
 * @param callFor the other services, called for a run with its own delegation; throws where that counts no more
 */
export async function reconcileRuns(
  runs: UnreconciledRuns,
  callFor: (delegation: string) => ReconcilePorts,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const given = await runs.giveUp();
  if (given > 0)
    log.warn({ runs: given }, "outcomes of runs could not be recorded while their delegations counted; policy closes them as unknown");
  for (const run of await runs.claim()) {
    if (signal.aborted) return;
    try {
      const attributes = { [genAi.conversationId]: run.sessionId, "hlvm.run.id": run.runId };
      await inSpan("hlvm.reconcile_run", { attributes }, async () => {
        if (await isReconciled(run, runs, callFor, signal)) await runs.done(run);
      });
    } catch (cause) {
      if (cause instanceof HlvmError && cause.reason === "event_unreadable") await runs.done(run).catch(() => undefined);
      log.warn({ err: cause, runId: run.runId, attempts: run.attempts }, "outcomes of a run could not be recorded");
    }
  }
}

async function isReconciled(
  run: UnreconciledRun,
  runs: UnreconciledRuns,
  callFor: (delegation: string) => ReconcilePorts,
  signal: AbortSignal,
): Promise<boolean> {
  if (run.delegation === undefined) return true;
  return reconcileRun(run, await runs.events(run), callFor(run.delegation), signal);
}
