import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";

/** Of Node and of HTTP/2, for what happens to a connection. */
const CONNECTION_CODES = /^(E[A-Z]{4,}|ERR_HTTP2_|ERR_STREAM_)/;

/**
 * Tells a lost connection as `unavailable`, which connect-node tells as aborted, cancelled or internal. A call that the
 * service refused before it began, as one that is draining does, is made once more on another connection.
 */
export const lostConnectionInterceptor: Interceptor = (next) => async (given) => {
  const { signal, method } = given;
  const isRepeatable = !given.stream || method.methodKind === "server_streaming";
  const request = given.stream && isRepeatable ? { ...given, message: repeatable(given.message) } : given;
  const told = (thrown: unknown): unknown => (signal.aborted ? thrown : lostConnection(thrown));
  const attempt = async (isSecond: boolean): ReturnType<typeof next> => {
    try {
      const response = await next(request);
      return response.stream ? { ...response, message: translated(response.message, told) } : response;
    } catch (thrown) {
      if (isSecond || !isRepeatable || signal.aborted || !wasRefused(thrown)) throw told(thrown);
    }
    return attempt(true);
  };
  return attempt(false);
};

async function* translated<T>(messages: AsyncIterable<T>, told: (thrown: unknown) => unknown): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (thrown) {
    throw told(thrown);
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

function wasRefused(thrown: unknown): boolean {
  return causes(thrown).some(({ message }) => message.includes("REFUSED_STREAM"));
}

function lostConnection(thrown: unknown): unknown {
  const error = ConnectError.from(thrown);
  const isLost = error.code === Code.Canceled || error.code === Code.Aborted || causes(thrown).some(isOfConnection);
  if (!isLost || error.code === Code.DeadlineExceeded || error.code === Code.ResourceExhausted) return thrown;
  const message = error.code === Code.Unavailable ? error.rawMessage : `connection lost: ${error.rawMessage}`;
  return new ConnectError(message, Code.Unavailable, error.metadata, undefined, error);
}

function isOfConnection(error: Error): boolean {
  return "code" in error && typeof error.code === "string" && CONNECTION_CODES.test(error.code);
}

function causes(thrown: unknown): Error[] {
  const found: Error[] = [];
  for (let error = thrown; error instanceof Error && !found.includes(error); error = error.cause) found.push(error);
  return found;
}
