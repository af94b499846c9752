import { HlvmError } from "@hlvm/errors/hlvm-error";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";

const STARTING_AGAIN = "A service of the mesh has ended and is being started again: try once more in a moment; `hlvm status` tells.";

/** Our error from a failed call. A connection that broke looks like a cancellation that nobody asked for. */
export function meshError(thrown: unknown, signal?: AbortSignal): HlvmError {
  const error = fromConnectError(thrown);
  const isLost = error.code === "cancelled" && signal?.aborted !== true;
  if (!isLost && (error.code !== "unavailable" || error.advice !== "")) return error;
  const { message, reason, cause } = error;
  return new HlvmError({ code: "unavailable", reason: isLost ? "connection_lost" : reason, message, advice: STARTING_AGAIN, cause });
}
