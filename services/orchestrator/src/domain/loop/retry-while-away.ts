import pRetry from "p-retry";
import { HlvmError } from "@hlvm/errors/hlvm-error";

/** Pauses of 0.25 to 0.5 s at first and of 2 s in the end: those who wait together do not come back together. */
const RETRY = { retries: Number.POSITIVE_INFINITY, minTimeout: 250, maxTimeout: 2_000, randomize: true };

/** The service is not there, or hangs. */
export function isAway(thrown: unknown): thrown is HlvmError {
  return thrown instanceof HlvmError && (thrown.code === "unavailable" || thrown.code === "deadline_exceeded");
}

/** Asks again while a service has no room. @param milliseconds how long to come back @throws what it answers with, or its last refusal */
export function retryWhileFull<T>(ask: () => Promise<T>, milliseconds: number, signal: AbortSignal): Promise<T> {
  const isFull = (error: Error): boolean => error instanceof HlvmError && error.code === "resource_exhausted";
  return pRetry(ask, { ...RETRY, maxRetryTime: milliseconds, signal, shouldRetry: ({ error }) => isFull(error) });
}

/** Refusals of a replica that is on its way out, or that is not sure of its lease: another one, or itself, answers soon. */
const PASSING: ReadonlySet<string> = new Set(["sandbox_draining", "sandbox_lease_lost"]);
const PASSING_MILLISECONDS = 10_000;

/** Asks again for up to 10 s where one replica of a service refuses because it is on its way out. @throws its last refusal */
export function retryAtReplicas<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const isPassing = (error: Error): boolean => error instanceof HlvmError && PASSING.has(error.reason);
  return pRetry(ask, { ...RETRY, maxRetryTime: PASSING_MILLISECONDS, signal, shouldRetry: ({ error }) => isPassing(error) });
}

/**
 * Asks a service again while it is away. For what takes effect once, however often it is asked for.
 * @param milliseconds how long to wait for it
 * @throws what it answers with, or its last failure
 */
export function retryWhileAway<T>(ask: () => Promise<T>, milliseconds: number, signal: AbortSignal): Promise<T> {
  return pRetry(ask, { ...RETRY, maxRetryTime: milliseconds, signal, shouldRetry: ({ error }) => isAway(error) });
}
