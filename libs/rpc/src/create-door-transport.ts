import type { Interceptor, Transport } from "@connectrpc/connect";
import { bareTransport } from "./client/bare-transport.ts";
import { interceptedTransport } from "./client/intercepted-transport.ts";

/**
 * A connection to the mesh from outside, in Connect's protocol as anybody may speak it. A call without a deadline of its own
 * gets 30 s; a frozen peer is noticed by pings.
 */
export function createDoorTransport(baseUrl: string, interceptors: readonly Interceptor[]): Transport {
  return interceptedTransport(baseUrl, bareTransport(baseUrl), interceptors);
}
