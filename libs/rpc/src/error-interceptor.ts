import type { Interceptor } from "@connectrpc/connect";
import type { Log } from "@hlvm/log/create-log";
import { blamingCaller, callerGone } from "./server/caller-faults.ts";
import { translateError } from "./translate-error.ts";

/** Translates what a call throws, before it began or in its stream. That it came is in the log of who debugs. */
export function errorInterceptor(log: Log): Interceptor {
  const translate = (thrown: unknown, method: string): never => {
    throw translateError(log, thrown, method);
  };
  return (next) => async (request) => {
    const method = `${request.service.typeName}/${request.method.name}`;
    log.debug({ method }, "call");
    try {
      const response = await next(request.stream ? { ...request, message: blamingCaller(request.message) } : request);
      if (!response.stream) return response;
      return { ...response, message: translateStream(response.message, request.signal, (thrown) => translate(thrown, method)) };
    } catch (thrown) {
      return translate(thrown, method);
    }
  };
}

/**
 * Ends the handler where its caller goes away: one whose last answer is on its way would otherwise wait for ever, since
 * nobody takes that answer any more. What is thrown where an answer was handed on comes from whoever writes it, to the same end.
 */
async function* translateStream<T>(
  messages: AsyncIterable<T>,
  signal: AbortSignal,
  translate: (thrown: unknown) => never,
): AsyncIterable<T> {
  const iterator = messages[Symbol.asyncIterator]();
  let isHandedOn = false;
  let isLeft = false;
  const leave = (): void => {
    if (!isHandedOn) return;
    isLeft = true;
    iterator.return?.().catch(() => undefined);
  };
  signal.addEventListener("abort", leave);
  try {
    for (;;) {
      const { done, value } = await iterator.next();
      if (isLeft) throw signal.reason;
      if (done === true) return;
      isHandedOn = true;
      yield value;
      isHandedOn = false;
    }
  } catch (thrown) {
    translate(isHandedOn ? callerGone(thrown) : thrown);
  } finally {
    signal.removeEventListener("abort", leave);
    await iterator.return?.();
  }
}
