import type { ContextLimits } from "../context/token-budget.ts";

/** What a run may use up. */
export interface Limits extends ContextLimits {
  /** Model calls. */
  readonly turns: number;
  readonly toolCallsPerTurn: number;
  /** How often in a row the very same call is let through. */
  readonly identicalCallsInARow: number;
  readonly modelSilenceMilliseconds: number;
  readonly modelMilliseconds: number;
  readonly runMilliseconds: number;
  /** Of trying to record what came of a call: a run that cannot have it on record goes no further. */
  readonly outcomeMilliseconds: number;
  /** Of tool results that reach the model, in the whole run, in UTF-16 units. */
  readonly toolResultLength: number;
}

/** Two megabytes of tool results a run: the seeds' maxTotalToolResultBytes. */
export const TOOL_RESULT_LENGTH = 2 * 1024 * 1024;
