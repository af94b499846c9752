import type { Interceptor } from "@connectrpc/connect";
import { callerKey, callerOf } from "@hlvm/rpc/call-context";
import type { Doorkeeper } from "../domain/doorkeeper.ts";

/** Lets nobody through whom the doorkeeper does not know. */
export function admitInterceptor(doorkeeper: Doorkeeper): Interceptor {
  return (next) => async (request) => {
    const principal = await doorkeeper.admit(request.header.get("authorization") ?? undefined);
    request.contextValues.set(callerKey, callerOf({ principal }, request.header.get("traceparent")));
    return next(request);
  };
}
