import { HlvmError, type ErrorCode } from "@hlvm/errors/hlvm-error";
import type { toolErrorCodeWords } from "@hlvm/proto/hlvm/tool/v1/tool_words";
import type { ToolOutcome } from "./tool-outcome.ts";

/** Errors that a model, or time, can put right; all others are refusals or faults and go to the caller. */
const OUTCOME_CODES: Partial<Record<ErrorCode, (typeof toolErrorCodeWords)[number]>> = {
  invalid_argument: "invalid_arguments",
  not_found: "not_found",
  unavailable: "unavailable",
};
/** Refusals for one fact: the model can take another, or write a new one. */
const WRONG_FACT = new Set(["fact_ended", "team_fact_refused"]);

/**
 * A failure as the model reads it.
 * @throws whatever it was given, where that is nothing the model can act on
 */
export function failedOutcome(tool: string, cause: unknown): ToolOutcome {
  const errorCode = cause instanceof HlvmError ? outcomeCode(cause) : undefined;
  if (!(cause instanceof HlvmError) || errorCode === undefined) throw cause;
  return {
    success: false,
    content: `Error: ${cause.message}${cause.advice === "" ? "" : ` ${cause.advice}`}`,
    summary: `${tool} failed: ${cause.message}`,
    errorCode,
  };
}

function outcomeCode(error: HlvmError): string | undefined {
  return WRONG_FACT.has(error.reason) ? "invalid_arguments" : OUTCOME_CODES[error.code];
}
