import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { isConnectionFailure, wasRefused } from "./connection-failure.ts";

/**
 * Tells a lost connection as `unavailable`, which connect-node tells as aborted, cancelled or internal. A call that the
 * service refused before it began is made once more at once, on another connection.
 */
export const lostConnectionInterceptor: Interceptor = (next) => async (given) => {
  const { signal, method } = given;
  const isRepeatable = !given.stream || method.methodKind === "server_streaming";
  const request = given.stream && isRepeatable ? { ...given, message: repeatable(given.message) } : given;
  const translate = (thrown: unknown): unknown => (signal.aborted ? thrown : asUnavailable(thrown));
  const attempt = async (isSecond: boolean): ReturnType<typeof next> => {
    try {
      const response = await next(request);
      return response.stream ? { ...response, message: translated(response.message, translate) } : response;
    } catch (thrown) {
      if (isSecond || !isRepeatable || signal.aborted || !wasRefused(thrown)) throw translate(thrown);
    }
    return attempt(true);
  };
  return attempt(false);
};

async function* translated<T>(messages: AsyncIterable<T>, translate: (thrown: unknown) => unknown): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (thrown) {
    throw translate(thrown);
  }
}

/** The request of a server-streaming method is one message. */
function repeatable<T>(messages: AsyncIterable<T>): AsyncIterable<T> {
  const first = messages[Symbol.asyncIterator]().next();
  return {
    async *[Symbol.asyncIterator]() {
      const { done, value } = await first;
      if (done !== true) yield value;
    },
  };
}

function asUnavailable(thrown: unknown): unknown {
  const error = ConnectError.from(thrown);
  if (!isConnectionFailure(error)) return thrown;
  const message = error.code === Code.Unavailable ? error.rawMessage : `connection lost: ${error.rawMessage}`;
  return new ConnectError(message, Code.Unavailable, error.metadata, undefined, error);
}
