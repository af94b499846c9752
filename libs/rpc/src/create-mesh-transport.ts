import type { Interceptor, Transport } from "@connectrpc/connect";
import { bareTransport } from "./client/bare-transport.ts";
import { interceptedTransport } from "./client/intercepted-transport.ts";

/**
 * A connection to a service of the mesh. A call without a deadline of its own gets 30 s; a frozen peer is noticed by pings.
 * Streams that live long want a transport of their own, so that they do not use up the streams of unary calls.
 */
export function createMeshTransport(baseUrl: string, interceptors: readonly Interceptor[] = []): Transport {
  const bare = bareTransport(baseUrl);
  return interceptors.length === 0 ? bare : interceptedTransport(baseUrl, bare, interceptors);
}
