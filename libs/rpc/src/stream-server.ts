import type { Validator } from "@bufbuild/protovalidate";
import { createContextKey, type HandlerContext, type Interceptor } from "@connectrpc/connect";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { TokenVerifier } from "@hlvm/identity/token-verifier";
import type { Log } from "@hlvm/log/create-log";

/** What each call of a stream is checked with, as a call that has a stream of its own is by the interceptors. */
export interface StreamServer {
  readonly verifier: TokenVerifier;
  readonly validator: Validator;
  readonly log: Log;
  /** Aborted when the server takes no further calls. */
  readonly draining: AbortSignal;
}

const streamServerKey = createContextKey<StreamServer | undefined>(undefined, { description: "what calls of a stream are checked with" });

/** Hands it to the methods that answer calls on a stream. */
export function streamServerInterceptor(server: StreamServer): Interceptor {
  return (next) => (request) => {
    if (request.stream) request.contextValues.set(streamServerKey, server);
    return next(request);
  };
}

export function streamServer(context: HandlerContext): StreamServer {
  const server = context.values.get(streamServerKey);
  if (server === undefined)
    throw new HlvmError({ code: "unimplemented", reason: "no_streams", message: "This server answers no calls on streams." });
  return server;
}
