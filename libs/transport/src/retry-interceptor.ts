import { setTimeout as wait } from "node:timers/promises";
import { MethodOptions_IdempotencyLevel as IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { isNeverStarted } from "./connection-failure.ts";

const FIRST_PAUSE_MILLISECONDS = 50;
/** A service that ended is started again within one to six seconds. */
const LONGEST_PAUSE_MILLISECONDS = 1_000;

/**
 * Makes unary calls that were never started again, until their deadline; and once those that may be made twice and whose connection
 * broke. grpc-js does that too, but not where it had the answer's headers already.
 */
export const retryInterceptor: Interceptor = (next) => async (request) => {
  let isSecond = false;
  for (let attempt = 0; ; attempt++) {
    try {
      return await next(request);
    } catch (thrown) {
      const isBroken: boolean = !isSecond && request.method.idempotency !== IdempotencyLevel.IDEMPOTENCY_UNKNOWN && hasNoAnswer(thrown);
      if (request.stream || request.signal.aborted || !(isBroken || isNeverStarted(thrown))) throw thrown;
      isSecond ||= isBroken;
      await pauseBeforeAttempt(attempt, request.signal).catch(() => {
        throw thrown;
      });
    }
  }
};

/** What a service says itself comes with details. */
function hasNoAnswer(thrown: unknown): boolean {
  const { code, details } = ConnectError.from(thrown);
  return code === Code.Unavailable && details.length === 0;
}

/** Waits before another attempt: longer each time, and never quite as long as others do. @throws AbortError */
export async function pauseBeforeAttempt(attempt: number, signal: AbortSignal | undefined): Promise<void> {
  const longest = Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** attempt, LONGEST_PAUSE_MILLISECONDS);
  await wait(longest * (0.5 + Math.random() / 2), undefined, { signal });
}
