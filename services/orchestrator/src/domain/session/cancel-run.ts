import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import type { RunRegistry } from "../run/run-registry.ts";
import { requireSession } from "./require-session.ts";
import type { SessionStore } from "./session-store.ts";

/**
 * Stops a run, wherever it is held.
 * @returns false where it had ended already
 * @throws HlvmError `session_not_found`, `run_not_found`
 */
export async function cancelRun(
  principal: Principal,
  sessionId: string,
  runId: string,
  store: SessionStore,
  runs: RunRegistry,
): Promise<boolean> {
  await requireSession(store, principal, sessionId, "drive");
  const cancelled = await store.requestCancel(principal.organization, sessionId, runId);
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
