import { setTimeout as wait } from "node:timers/promises";
import type { Interceptor } from "@connectrpc/connect";

const FIRST_PAUSE_MILLISECONDS = 50;
/** A service that ended is started again within one to six seconds. */
const LONGEST_PAUSE_MILLISECONDS = 1_000;

/** Nobody took the connection, or whoever did refused the call before it began: it may be made again, whatever it does. */
export function isNeverStarted(thrown: unknown): boolean {
  const seen = new Set<unknown>();
  for (let error = thrown; error instanceof Error && !seen.has(error); error = error.cause) {
    if (error.message.includes("REFUSED_STREAM") || ("code" in error && error.code === "ECONNREFUSED")) return true;
    seen.add(error);
  }
  return false;
}

/** Waits before another attempt: longer each time, and never quite as long as others do. @throws AbortError */
export async function pauseBeforeAttempt(attempt: number, signal: AbortSignal | undefined): Promise<void> {
  const longest = Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** attempt, LONGEST_PAUSE_MILLISECONDS);
  await wait(longest * (0.5 + Math.random() / 2), undefined, { signal });
}

/** Makes unary calls that were never started again, until their deadline: a service that ended is being started again. */
export const retryInterceptor: Interceptor = (next) => async (request) => {
  for (let attempt = 0; ; attempt++) {
    try {
      return await next(request);
    } catch (thrown) {
      if (request.stream || request.signal.aborted || !isNeverStarted(thrown)) throw thrown;
      await pauseBeforeAttempt(attempt, request.signal).catch(() => {
        throw thrown;
      });
    }
  }
};
