import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { lostConnectionInterceptor } from "./lost-connection-interceptor.ts";
import { MAXIMUM_MESSAGE_BYTES } from "./maximum-message-bytes.ts";
import { MeshConnections } from "./mesh-connections.ts";

const DEADLINE_MILLISECONDS = 30_000;
/**
 * The way to a service of the mesh, by its URL: `http://host:port` is one connection in Connect's protocol; `dns:///host:port`
 * and `ipv4:host:port,host:port` are one to each replica, in gRPC, and calls take them in turn. A call without a deadline of
 * its own gets 30 s; a frozen peer is noticed by pings.
 */
export function createMeshTransport(url: string, given: readonly Interceptor[] = []): Transport {
  const interceptors = [...given, lostConnectionInterceptor];
  return /^https?:/.test(url) ? toOne(url, interceptors) : toReplicas(url, interceptors);
}

function toOne(baseUrl: string, interceptors: Interceptor[]): Transport {
  return createConnectTransport({
    baseUrl,
    httpVersion: "2",
    useBinaryFormat: true,
    acceptCompression: [],
    interceptors,
    defaultTimeoutMs: DEADLINE_MILLISECONDS,
    readMaxBytes: MAXIMUM_MESSAGE_BYTES,
    writeMaxBytes: MAXIMUM_MESSAGE_BYTES,
    sessionManager: new MeshConnections(baseUrl),
  });
}

/** grpc-js is loaded where it is needed: that takes longer than a command of the CLI waits for its first answer. */
function toReplicas(target: string, interceptors: readonly Interceptor[]): Transport {
  const loaded = import("./grpc/create-grpc-transport.ts").then(({ createGrpcTransport }) =>
    createGrpcTransport(target, interceptors, DEADLINE_MILLISECONDS),
  );
  return {
    unary: async (...call) => (await loaded).unary(...call),
    stream: async (...call) => (await loaded).stream(...call),
  };
}
