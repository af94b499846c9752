import { HlvmError } from "@hlvm/errors/hlvm-error";
import { fromConnectError } from "@hlvm/rpc/from-connect-error";

/** HTTP/2's word for a request that the other side never looked at. */
const NEVER_PROCESSED = "NGHTTP2_REFUSED_STREAM";

/** Our error from a failed call. A connection that broke looks like a cancellation that nobody asked for, or an internal error. */
export function meshError(thrown: unknown, signal?: AbortSignal): HlvmError {
  const error = fromConnectError(thrown);
  const isBroken = (error.code === "cancelled" && signal?.aborted !== true) || error.message.includes(NEVER_PROCESSED);
  if (!isBroken) return error;
  const { message, advice } = error;
  return new HlvmError({ code: "unavailable", reason: "connection_lost", message, advice, cause: error.cause });
}
