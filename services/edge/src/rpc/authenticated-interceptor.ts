import type { Interceptor, StreamResponse } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { callerKey, callerOf, requestKey } from "@hlvm/rpc/call-context";
import type { Authenticator, Caller } from "../domain/authenticator.ts";
import { demandScope } from "../domain/demand-scope.ts";
import type { Request } from "../http/read-body.ts";
import { scopesOf } from "./public-methods.ts";

/** So long a stream outlives the credential that it was opened with. */
const RECHECK_MILLISECONDS = 10_000;
/** For so many of them in a row nobody may be able to tell, as while policy is started again. */
const MOST_UNANSWERED = 6;

/** Who sends a request, found out before any of its body is read. */
export type Callers = Pick<WeakMap<Request, Caller>, "get">;

/**
 * Lets no call through whose request was not authenticated, or whose token is not good for the method. A stream ends when its
 * caller would not be let in any more.
 */
export function authenticatedInterceptor(callers: Callers, authenticator: Authenticator): Interceptor {
  return (next) => async (call) => {
    const caller = callers.get(call.contextValues.get(requestKey)!);
    if (caller === undefined) throw new Error("a call came by without being authenticated");
    demandScope(caller, scopesOf(call.method), `${call.service.typeName}.${call.method.name}`);
    call.contextValues.set(callerKey, callerOf({ principal: caller.principal }));
    if (!call.stream) return next(call);
    const refused = new AbortController();
    const response = await next({ ...call, signal: AbortSignal.any([call.signal, refused.signal]) });
    if (!response.stream) return response;
    const authorization = call.header.get("authorization") ?? undefined;
    return { ...response, message: whileLetIn(response, refused, () => authenticator.authenticate(authorization)) };
  };
}

async function* whileLetIn({ message }: StreamResponse, refused: AbortController, check: () => Promise<unknown>) {
  let unanswered = 0;
  const recheck = async (): Promise<void> => {
    try {
      await check();
      unanswered = 0;
    } catch (cause) {
      const isRefusal = cause instanceof HlvmError && cause.code === "unauthenticated";
      if (isRefusal || ++unanswered >= MOST_UNANSWERED) refused.abort(cause);
    }
  };
  const timer = setInterval(() => void recheck(), RECHECK_MILLISECONDS);
  try {
    yield* message;
  } catch (thrown) {
    throw refused.signal.aborted ? refused.signal.reason : thrown;
  } finally {
    clearInterval(timer);
  }
  refused.signal.throwIfAborted();
}
