import type { Interceptor } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { TokenVerifier } from "@hlvm/identity/token-verifier";
import { Health } from "@hlvm/proto/grpc/health/v1/health_pb";
import { callerKey, callerOf, serviceCallerKey } from "./call-context.ts";

/**
 * Refuses every call without a good internal token; health checks alone need none.
 * @param forServices full names of the services that others call in their own name, and nobody in a person's
 */
export function authenticateInterceptor(verifier: TokenVerifier, forServices: readonly string[] = []): Interceptor {
  return (next) => (request) => {
    if (request.service.typeName === Health.typeName) return next(request);
    const token = /^Bearer (.+)$/.exec(request.header.get("authorization") ?? "")?.[1];
    if (token === undefined)
      throw new HlvmError({
        code: "unauthenticated",
        reason: "token_missing",
        message: "The call carries no token.",
        advice: "Call through the edge; it gives every call its token.",
      });
    if (forServices.includes(request.service.typeName)) request.contextValues.set(serviceCallerKey, verifier.verifyOwn(token));
    else request.contextValues.set(callerKey, callerOf(verifier.verify(token)));
    return next(request);
  };
}
