import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { RunContext } from "../loop/run-context.ts";
import { holdsSecretMark } from "../secrets/run-secrets.ts";
import type { ReadyCall } from "./prepare-call.ts";
import { failedResult } from "./tool-result.ts";

const SECRET_GONE = "the secret in its arguments was kept by the process that held this run, which has ended";

/**
 * A call that another process made before it lost the run, and of which the log has no result. The executor runs a call id
 * once: what was never started runs now, what still runs is waited for, and what has ended gives its result. Of a call that
 * was interrupted the model is told so, but for one that only reads, which is made again under an id of its own.
 */
export async function resumeCall(
  ready: ReadyCall,
  run: RunContext,
): Promise<{ readonly result: ToolResult } | { readonly ready: ReadyCall }> {
  const isMarked = holdsSecretMark(ready.call.argumentsJson);
  // Memory keeps no receipts: it gives the result again.
  if (ready.definition.executor !== "sandbox") return isMarked ? { result: notResumed("unknown") } : { ready };
  // Where the sandbox does not answer, the call itself finds out.
  const receipt = await run.mesh.sandbox.receipt(run.workspaceSessionId, ready.call.callId).catch(() => undefined);
  if (receipt?.state === "done") return { result: receipt.result };
  if (isMarked) return { result: notResumed(receipt?.state === "never_started" ? "never_started" : "unknown") };
  if (receipt?.state === "unknown" && ready.definition.sideEffects === "read-only")
    return { ready: { ...ready, call: { ...ready.call, callId: `${ready.call.callId}.again` } } };
  return { ready };
}

function notResumed(state: "never_started" | "unknown"): ToolResult {
  if (state === "never_started") return failedResult("cancelled", `Not run: ${SECRET_GONE}. Make the call again if it is still needed.`);
  return failedResult("outcome_unknown", `It is not known whether this call took effect: ${SECRET_GONE}. Look before you make it again.`);
}
