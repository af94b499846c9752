import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";

const DEFAULT_DEADLINE_MILLISECONDS = 30_000;
const PING_INTERVAL_MILLISECONDS = 15_000;
const PING_TIMEOUT_MILLISECONDS = 5_000;
const MAXIMUM_MESSAGE_BYTES = 16 * 1024 * 1024;

/**
 * A connection to a service of the mesh. A call without a deadline of its own gets 30 s; a frozen peer is noticed by pings.
 * Streams that live long want a transport of their own, so that they do not use up the streams of unary calls.
 */
export function createMeshTransport(baseUrl: string, interceptors: readonly Interceptor[] = []): Transport {
  return createConnectTransport({
    baseUrl,
    httpVersion: "2",
    useBinaryFormat: true,
    defaultTimeoutMs: DEFAULT_DEADLINE_MILLISECONDS,
    pingIntervalMs: PING_INTERVAL_MILLISECONDS,
    pingTimeoutMs: PING_TIMEOUT_MILLISECONDS,
    readMaxBytes: MAXIMUM_MESSAGE_BYTES,
    acceptCompression: [],
    interceptors: [...interceptors],
  });
}
