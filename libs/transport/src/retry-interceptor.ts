import { setTimeout as wait } from "node:timers/promises";
import type { Interceptor } from "@connectrpc/connect";
import { isNeverStarted } from "./connection-failure.ts";

const FIRST_PAUSE_MILLISECONDS = 50;
/** A service that ended is started again within one to six seconds. */
const LONGEST_PAUSE_MILLISECONDS = 1_000;

/** Makes unary calls that were never started again, until their deadline. */
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

/** Waits before another attempt: longer each time, and never quite as long as others do. @throws AbortError */
export async function pauseBeforeAttempt(attempt: number, signal: AbortSignal | undefined): Promise<void> {
  const longest = Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** attempt, LONGEST_PAUSE_MILLISECONDS);
  await wait(longest * (0.5 + Math.random() / 2), undefined, { signal });
}
