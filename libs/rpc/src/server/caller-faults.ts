import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";

/** How Connect begins what it says of bytes that are not the message they should be. */
const UNREADABLE = "parse binary: ";
/** And of a call whose stream was reset, as it is when its caller is killed. */
const RESET = "http/2 stream closed with error code ";

/**
 * Connect tells a request that is no message of its method, and a stream that its caller reset, as internal errors, as if the
 * fault were ours. The error's code is changed, since Connect gives no other way in between: the call's signal gets the error
 * before its handler, its trace or its caller does.
 */
export function watchForCallerFaults({ signal }: HandlerContext): void {
  signal.addEventListener("abort", () => blameCaller(signal.reason), { once: true });
}

/** Where messages are read one by one, their reader gets the error first: whatever cannot be read there is the caller's. */
export async function* blamingCaller<T>(messages: AsyncIterable<T>): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (thrown) {
    blameCaller(thrown);
    if (thrown instanceof ConnectError && thrown.code === Code.Internal) Object.assign(thrown, { code: Code.InvalidArgument });
    throw thrown;
  }
}

/** What became of an answer that could not be sent: nobody is there who reads it. */
export function callerGone(cause: unknown): ConnectError {
  return new ConnectError("The caller is gone.", Code.Canceled, undefined, undefined, cause);
}

function blameCaller(thrown: unknown): void {
  if (!(thrown instanceof ConnectError)) return;
  const { code, rawMessage } = thrown;
  if (code === Code.Internal && rawMessage.startsWith(UNREADABLE)) Object.assign(thrown, { code: Code.InvalidArgument });
  // Over HTTP/1.1, and while a request is read, Connect calls a connection that has ended aborted.
  if ((code === Code.Internal && rawMessage.startsWith(RESET)) || code === Code.Aborted) Object.assign(thrown, { code: Code.Canceled });
}
