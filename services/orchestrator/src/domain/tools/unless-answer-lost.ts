import { HlvmError } from "@hlvm/errors/hlvm-error";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { RunContext } from "../loop/run-context.ts";
import type { ToolCall } from "../loop/ports.ts";
import { failedResult } from "./tool-result.ts";

/** Policy's words for a decision or an approval whose answer was given before. */
const ANSWER_LOST = new Set(["call_already_decided", "approval_used"]);

/** Policy gives each grant once: where its answer did not arrive the call never runs, and the audit log is told so. */
export async function unlessAnswerLost<T>(
  call: ToolCall,
  run: RunContext,
  ask: () => Promise<T>,
): Promise<T | { readonly denial: ToolResult }> {
  try {
    return await ask();
  } catch (thrown) {
    if (!(thrown instanceof HlvmError) || !ANSWER_LOST.has(thrown.reason)) throw thrown;
    const result = failedResult(
      "unavailable",
      `Policy's answer to this call was lost on the way, so ${call.tool} did not run. You may make the call again.`,
    );
    const { sessionId, runId, callId } = call;
    const outcome = { sessionId, runId, callId, status: OutcomeStatus.REFUSED, summary: result.summary, durationMilliseconds: 0 };
    run.records.add(run.outcomes.recordNotRun(outcome));
    return { denial: result };
  }
}
