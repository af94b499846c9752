import type { Interceptor } from "@connectrpc/connect";
import { Code } from "@connectrpc/connect";
import type { Log } from "@hlvm/log/create-log";
import { toConnectError } from "./to-connect-error.ts";

const EXPECTED = new Set([Code.InvalidArgument, Code.NotFound, Code.AlreadyExists, Code.FailedPrecondition, Code.Canceled]);

/** The one place where errors become transport codes, and where they are logged. */
export function errorInterceptor(log: Log): Interceptor {
  const translate = (thrown: unknown, method: string): never => {
    const error = toConnectError(thrown);
    if (error.code === Code.Internal) log.error({ err: thrown, method }, "call failed");
    else if (!EXPECTED.has(error.code)) log.warn({ code: Code[error.code], reason: error.rawMessage, method }, "call refused");
    throw error;
  };
  return (next) => async (request) => {
    const method = `${request.service.typeName}/${request.method.name}`;
    try {
      const response = await next(request);
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
