import { HlvmError } from "@hlvm/errors/hlvm-error";
import { fromConnectError } from "@hlvm/rpc/from-connect-error";

/** Our error from a failed call. A connection that broke looks like a cancellation that nobody asked for. */
export function meshError(thrown: unknown, signal?: AbortSignal): HlvmError {
  const error = fromConnectError(thrown);
  if (error.code !== "cancelled" || signal?.aborted === true) return error;
  const { message, advice } = error;
  return new HlvmError({ code: "unavailable", reason: "connection_lost", message, advice, cause: error.cause });
}
