import type { Interceptor } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { TokenVerifier } from "@hlvm/identity/token-verifier";
import { Health } from "@hlvm/proto/grpc/health/v1/health_pb";
import { callerKey, callerOf } from "./call-context.ts";

/** Refuses every call without a good internal token; health checks alone need none. */
export function authenticateInterceptor(verifier: TokenVerifier): Interceptor {
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
    request.contextValues.set(callerKey, callerOf(verifier.verify(token)));
    return next(request);
  };
}
