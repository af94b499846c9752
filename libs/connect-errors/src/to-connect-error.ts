import { Code, ConnectError } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ErrorAdviceSchema } from "@hlvm/proto/hlvm/error/v1/error_pb";
import { connectCodeOf } from "./connect-code.ts";

/**
 * What a caller is told of an error. Ours go out with their reason and advice; of anything unexpected only that it
 * happened: its message may hold what the caller must not see, and it stays in the log.
 */
export function toConnectError(thrown: unknown): ConnectError {
  if (thrown instanceof ConnectError) return thrown;
  if (thrown instanceof HlvmError) {
    const detail = { desc: ErrorAdviceSchema, value: { advice: thrown.advice, reason: thrown.reason } };
    return new ConnectError(thrown.message, connectCodeOf(thrown.code), undefined, [detail], thrown);
  }
  if (thrown instanceof Error && thrown.name === "AbortError")
    return new ConnectError("The call was cancelled.", Code.Canceled, undefined, undefined, thrown);
  return new ConnectError("Something went wrong inside the service; its log says what.", Code.Internal, undefined, undefined, thrown);
}
