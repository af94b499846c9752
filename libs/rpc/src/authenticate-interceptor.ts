import type { Interceptor } from "@connectrpc/connect";
import type { TokenVerifier } from "@hlvm/identity/token-verifier";
import { authenticate } from "./authenticate.ts";

/** Refuses every call without a good internal token; health checks alone need none. */
export function authenticateInterceptor(verifier: TokenVerifier): Interceptor {
  return (next) => async (request) => {
    await authenticate(verifier, request.service, (name) => request.header.get(name), request.contextValues);
    return next(request);
  };
}
