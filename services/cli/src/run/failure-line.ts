import type { HlvmError } from "@hlvm/errors/hlvm-error";
import type { FinalLine } from "@hlvm/ndjson/run-line";

/** The last line of a run that failed on this side of the mesh, so that a program finds a `final` whatever happened. */
export function failureLine(error: HlvmError, sessionId: string, stopReason: string): FinalLine {
  return {
    type: "final",
    session_id: sessionId,
    run_id: "",
    stop_reason: stopReason,
    text: "",
    message: error.message,
    advice: error.advice,
    turns: 0,
    tool_calls: 0,
    usage: { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 },
    duration_ms: 0,
    cost: { nano_dollars: 0, unpriced_calls: 0 },
  };
}
