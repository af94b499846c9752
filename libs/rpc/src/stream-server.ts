import type { Validator } from "@bufbuild/protovalidate";
import { createContextKey, createContextValues, type ContextValues, type HandlerContext, type Interceptor } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { TokenVerifier } from "@hlvm/identity/token-verifier";
import type { Log } from "@hlvm/log/create-log";
import { requestKey } from "./call-context.ts";
import type { NodeHandlerFn } from "./node-handler.ts";
import { connectionDraining } from "./server/connection-age.ts";

/** What each call of a stream is checked with, as a call that has a stream of its own is by the interceptors. */
export interface StreamServer {
  readonly verifier: TokenVerifier;
  readonly validator: Validator;
  readonly log: Log;
  /** Aborted when the server, or the connection of the stream, takes no further calls. */
  readonly draining: AbortSignal;
}

const streamServerKey = createContextKey<StreamServer | undefined>(undefined, { description: "what calls of a stream are checked with" });

const connectionDrainingKey = createContextKey<AbortSignal | undefined>(undefined, { description: "its connection is too old" });

export function connectionValues(request: Parameters<NodeHandlerFn>[0]): ContextValues {
  return createContextValues().set(connectionDrainingKey, connectionDraining(request)).set(requestKey, request);
}

/** Hands it to the methods that answer calls on a stream. */
export function streamServerInterceptor(server: StreamServer): Interceptor {
  return (next) => (request) => {
    const ofConnection = request.contextValues.get(connectionDrainingKey);
    const draining = ofConnection === undefined ? server.draining : AbortSignal.any([server.draining, ofConnection]);
    if (request.stream) request.contextValues.set(streamServerKey, { ...server, draining });
    return next(request);
  };
}

export function streamServer(context: HandlerContext): StreamServer {
  const server = context.values.get(streamServerKey);
  if (server === undefined)
    throw new HlvmError({ code: "unimplemented", reason: "no_streams", message: "This server answers no calls on streams." });
  return server;
}
