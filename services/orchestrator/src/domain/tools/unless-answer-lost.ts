import { HlvmError } from "@hlvm/errors/hlvm-error";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import type { ToolResult } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import type { ToolCall } from "../loop/ports.ts";
import type { TurnCalls } from "./call-tool.ts";
import { failedResult } from "./tool-result.ts";

/** Policy's words for a decision or an approval whose answer was given before. */
const ANSWER_LOST = new Set(["call_already_decided", "approval_used"]);

/**
 * Where policy's answer was lost and it gives no other, the call never runs, and the audit log is told so. Of a call that was
 * taken over policy may say the same because it has run.
 */
export async function unlessAnswerLost<T>(
  call: ToolCall,
  { run, isTakenOver }: TurnCalls,
  ask: () => Promise<T>,
): Promise<T | { readonly denial: ToolResult }> {
  try {
    return await ask();
  } catch (thrown) {
    if (!(thrown instanceof HlvmError) || !ANSWER_LOST.has(thrown.reason)) throw thrown;
    if (isTakenOver)
      return {
        denial: failedResult(
          "outcome_unknown",
          `It is not known whether this call of ${call.tool} took effect: look before you do it again.`,
        ),
      };
    const result = failedResult(
      "unavailable",
      `Policy's answer to this call was lost on the way, so ${call.tool} did not run. You may make the call again.`,
    );
    const { sessionId, runId, callId } = call;
    const outcome = { sessionId, runId, callId, status: OutcomeStatus.REFUSED, summary: result.summary, durationMilliseconds: 0 };
    run.journal.records.add(run.outcomes.recordNotRun(outcome));
    return { denial: result };
  }
}
