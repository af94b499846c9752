import { Code, ConnectError } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";

/**
 * A service's error as the edge's client gets it: code, message and details are the same. The response's headers,
 * which Connect keeps with it, are not for the client. Where the connection broke, which Connect calls cancelled or
 * unavailable, the client is told that it can try again.
 */
export function passedOnError(thrown: unknown, service: string, signal: AbortSignal): Error {
  const error = ConnectError.from(thrown);
  const isBroken = (error.code === Code.Canceled && !signal.aborted) || (error.code === Code.Unavailable && error.details.length === 0);
  if (isBroken)
    return new HlvmError({
      code: "unavailable",
      reason: "service_unreachable",
      message: `The service ${service} cannot be reached.`,
      advice: "Try again in a moment; `hlvm status` tells whether it is up, and where its log is.",
      cause: thrown,
    });
  const passedOn = new ConnectError(error.rawMessage, error.code, undefined, undefined, thrown);
  passedOn.details = error.details;
  return passedOn;
}
