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
  /** Of waiting for a service that is away, and that the run cannot go on without. */
  readonly serviceMilliseconds: number;
  /** Of holding a run that only waits for a person; then it is parked. */
  readonly parkMilliseconds: number;
  /** Of tool results that reach the model, in the whole run, in UTF-16 units. */
  readonly toolResultLength: number;
}

/** Two megabytes of tool results a run: the seeds' maxTotalToolResultBytes. */
export const TOOL_RESULT_LENGTH = 2 * 1024 * 1024;
