import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { isNeverStarted } from "@hlvm/transport/connection-failure";

/**
 * Nothing at that address took the call: it may be made elsewhere, whatever it does. Without its cause, by which others would
 * know that it may be made again, and would make it at the same address.
 */
export class ReplicaUnreachable extends ConnectError {
  readonly #isUnreachable = true;

  /** `instanceof` holds for every ConnectError, whatever the class: Connect has made it so. */
  static is(error: ConnectError): error is ReplicaUnreachable {
    return #isUnreachable in error && error.#isUnreachable;
  }

  constructor() {
    super("The replica that holds the session takes no calls.", Code.Unavailable);
  }
}

/** Tells a call that was never started as `ReplicaUnreachable`. */
export const replicaUnreachableInterceptor: Interceptor = (next) => async (request) => {
  try {
    const response = await next(request);
    return response.stream ? { ...response, message: translated(response.message) } : response;
  } catch (thrown) {
    throw translate(thrown);
  }
};

async function* translated<T>(messages: AsyncIterable<T>): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (thrown) {
    throw translate(thrown);
  }
}

function translate(thrown: unknown): unknown {
  return isNeverStarted(thrown) ? new ReplicaUnreachable() : thrown;
}
