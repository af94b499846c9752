import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";

/** How Connect begins what it says of bytes that are not the message they should be. */
const UNREADABLE = "parse binary: ";

/**
 * Connect answers a request that is no message of its method with an internal error, as if the fault were ours. The error's
 * code is changed, since Connect gives no other way in between: the call's signal gets the error before the caller does.
 */
export function watchForMalformed({ signal }: HandlerContext): void {
  signal.addEventListener("abort", () => blameCaller(signal.reason), { once: true });
}

/** Where messages are read one by one, their reader gets the error first. */
export async function* blamingCaller<T>(messages: AsyncIterable<T>): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (thrown) {
    blameCaller(thrown);
    throw thrown;
  }
}

function blameCaller(thrown: unknown): void {
  if (thrown instanceof ConnectError && thrown.code === Code.Internal && thrown.rawMessage.startsWith(UNREADABLE))
    Object.assign(thrown, { code: Code.InvalidArgument });
}
