import pRetry from "p-retry";
import { HlvmError } from "@hlvm/errors/hlvm-error";

/** Pauses of 0.25 to 0.5 s at first and of 2 s in the end: those who wait together do not come back together. */
const RETRY = { retries: Number.POSITIVE_INFINITY, minTimeout: 250, maxTimeout: 2_000, randomize: true };

/** The service is not there, or hangs. */
export function isAway(thrown: unknown): thrown is HlvmError {
  return thrown instanceof HlvmError && (thrown.code === "unavailable" || thrown.code === "deadline_exceeded");
}

/**
 * Asks a service again while it is away. For what takes effect once, however often it is asked for.
 * @param milliseconds how long to wait for it
 * @throws what it answers with, or its last failure
 */
export function retryWhileAway<T>(ask: () => Promise<T>, milliseconds: number, signal: AbortSignal): Promise<T> {
  return pRetry(ask, { ...RETRY, maxRetryTime: milliseconds, signal, shouldRetry: ({ error }) => isAway(error) });
}
