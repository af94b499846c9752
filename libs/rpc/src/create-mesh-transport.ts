import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { lostConnectionInterceptor } from "./lost-connection-interceptor.ts";
import { MAXIMUM_MESSAGE_BYTES } from "./maximum-message-bytes.ts";

const DEADLINE_MILLISECONDS = 30_000;
const PING_INTERVAL_MILLISECONDS = 15_000;
const PING_TIMEOUT_MILLISECONDS = 5_000;
/** A conversation is sent whole with every question to a model: with HTTP/2's 64 KiB it would come in many round trips. */
const WINDOW_BYTES = 1024 * 1024;
/** While more than this waits to be sent Node refuses headers that come: with its own 10, those of the first answer. */
const MAXIMUM_SESSION_MEGABYTES = 1_024;

/**
 * A connection to a service of the mesh, in Connect's protocol over HTTP/2. A call without a deadline of its own gets 30 s; a
 * frozen peer is noticed by pings.
 */
export function createMeshTransport(baseUrl: string, interceptors: readonly Interceptor[] = []): Transport {
  return createConnectTransport({
    baseUrl,
    httpVersion: "2",
    useBinaryFormat: true,
    acceptCompression: [],
    interceptors: [...interceptors, lostConnectionInterceptor],
    defaultTimeoutMs: DEADLINE_MILLISECONDS,
    readMaxBytes: MAXIMUM_MESSAGE_BYTES,
    writeMaxBytes: MAXIMUM_MESSAGE_BYTES,
    pingIntervalMs: PING_INTERVAL_MILLISECONDS,
    pingTimeoutMs: PING_TIMEOUT_MILLISECONDS,
    nodeOptions: {
      settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
      maxSessionMemory: MAXIMUM_SESSION_MEGABYTES,
    },
  });
}
