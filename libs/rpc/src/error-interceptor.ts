import type { Interceptor } from "@connectrpc/connect";
import type { Log } from "@hlvm/log/create-log";
import { blamingCaller } from "./server/malformed-request.ts";
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
      return { ...response, message: translateStream(response.message, (thrown) => translate(thrown, method)) };
    } catch (thrown) {
      return translate(thrown, method);
    }
  };
}

async function* translateStream<T>(messages: AsyncIterable<T>, translate: (thrown: unknown) => never): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (thrown) {
    translate(thrown);
  }
}
