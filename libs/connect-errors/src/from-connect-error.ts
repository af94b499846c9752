import { ConnectError } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ErrorAdviceSchema } from "@hlvm/proto/hlvm/error/v1/error_pb";
import { errorCodeOf } from "./connect-code.ts";

/** Our error again, from whatever a call to another service threw. The ConnectError, with its details, is the cause. */
export function fromConnectError(thrown: unknown): HlvmError {
  if (thrown instanceof HlvmError) return thrown;
  const error = ConnectError.from(thrown);
  const code = errorCodeOf(error.code);
  const [advice] = error.findDetails(ErrorAdviceSchema);
  return new HlvmError({
    code,
    reason: advice?.reason || code,
    message: error.rawMessage,
    advice: advice?.advice,
    cause: error,
  });
}
