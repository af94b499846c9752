import { ConnectError } from "@connectrpc/connect";

/** Whether the peer says that it never began the call, so that it may be made again. */
export function wasNeverBegun(thrown: unknown): boolean {
  return thrown instanceof ConnectError && thrown.rawMessage.includes("REFUSED_STREAM");
}
