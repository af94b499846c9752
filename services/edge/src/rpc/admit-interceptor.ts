import type { Interceptor } from "@connectrpc/connect";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { callerKey, callerOf } from "@hlvm/rpc/call-context";
import type { Doorkeeper } from "../domain/doorkeeper.ts";

/** Lets nobody through whom the doorkeeper does not know, and gives everybody else's call its internal token. */
export function admitInterceptor(doorkeeper: Doorkeeper, minter: TokenMinter): Interceptor {
  return (next) => async (request) => {
    const principal = await doorkeeper.admit(request.header.get("authorization") ?? undefined);
    request.contextValues.set(callerKey, callerOf(principal, await minter.mint(principal), request.header.get("traceparent")));
    return next(request);
  };
}
