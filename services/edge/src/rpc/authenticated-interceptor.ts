import type { Interceptor, StreamResponse } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { callerKey, callerOf, requestKey } from "@hlvm/rpc/call-context";
import type { Caller } from "../domain/authenticator.ts";
import { demandRole } from "../domain/demand-role.ts";
import { demandScope } from "../domain/demand-scope.ts";
import type { Admitted } from "../http/admission.ts";
import type { Request } from "../http/read-body.ts";
import { accessOf } from "./public-methods.ts";

/** So long a stream outlives the credential that it was opened with. */
const RECHECK_MILLISECONDS = 10_000;
/** For so many of them in a row nobody may be able to tell, as while policy is started again. */
const MOST_UNANSWERED = 6;

/** Who sends a request, found out before any of its body is read. */
export type Callers = Pick<WeakMap<Request, Admitted>, "get">;

/**
 * Lets no call through whose request was not authenticated, or whose token or roles are not good for the method. A stream ends
 * when its caller would not be let in any more, or has lost a role.
 */
export function authenticatedInterceptor(callers: Callers): Interceptor {
  return (next) => async (call) => {
    const admitted = callers.get(call.contextValues.get(requestKey)!);
    if (admitted === undefined) throw new Error("a call came by without being authenticated");
    const { caller, check } = admitted;
    const access = accessOf(call.method);
    const name = `${call.service.typeName}.${call.method.name}`;
    demandScope(caller, access?.scopes, name);
    demandRole(caller, access?.roles, name);
    call.contextValues.set(callerKey, callerOf({ principal: caller.principal }));
    if (!call.stream) return next(call);
    const refused = new AbortController();
    const response = await next({ ...call, signal: AbortSignal.any([call.signal, refused.signal]) });
    if (!response.stream) return response;
    return { ...response, message: whileLetIn(response, refused, async () => requireRoles(caller, await check())) };
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

/** What a stream shows was chosen by the roles of who opened it. @throws HlvmError `roles_changed` where one is gone */
function requireRoles(before: Caller, now: Caller): void {
  if (before.principal.roles.every((role) => now.principal.roles.includes(role))) return;
  throw new HlvmError({
    code: "unauthenticated",
    reason: "roles_changed",
    message: "You have other roles than before.",
    advice: "Connect again.",
  });
}
