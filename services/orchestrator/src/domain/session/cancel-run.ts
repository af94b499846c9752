import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { RunRegistry } from "../run/run-registry.ts";
import type { SessionStore } from "./session-store.ts";

/**
 * Stops a run, wherever it is held.
 * @returns false where it had ended already
 * @throws HlvmError `run_not_found`
 */
export async function cancelRun(
  organization: string,
  sessionId: string,
  runId: string,
  store: SessionStore,
  runs: RunRegistry,
): Promise<boolean> {
  const cancelled = await store.requestCancel(organization, sessionId, runId);
  if (cancelled === undefined)
    throw new HlvmError({
      code: "not_found",
      reason: "run_not_found",
      message: `Session ${sessionId} has no run ${runId}.`,
      advice: `\`hlvm session show ${sessionId}\` names the run that is going on.`,
    });
  if (cancelled) runs.cancel(runId);
  return cancelled;
}
