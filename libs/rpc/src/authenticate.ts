import type { DescService } from "@bufbuild/protobuf";
import type { ContextValues } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { TokenVerifier } from "@hlvm/identity/token-verifier";
import { Health } from "@hlvm/proto/grpc/health/v1/health_pb";
import { callerKey, callerOf } from "./call-context.ts";

/**
 * Puts the verified caller into the values of a call; health checks alone need none.
 * @throws HlvmError `token_missing`, `token_refused`
 */
export async function authenticate(
  verifier: TokenVerifier,
  service: DescService,
  header: (name: string) => string | null | undefined,
  values: ContextValues,
): Promise<void> {
  if (service.typeName === Health.typeName) return;
  const token = /^Bearer (.+)$/.exec(header("authorization") ?? "")?.[1];
  if (token === undefined)
    throw new HlvmError({
      code: "unauthenticated",
      reason: "token_missing",
      message: "The call carries no token.",
      advice: "Call through the edge; it gives every call its token.",
    });
  values.set(callerKey, callerOf(verifier.verify(token), header("traceparent")));
}
