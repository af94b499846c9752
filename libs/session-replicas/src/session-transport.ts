import type { Message } from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import type { SessionReplicas } from "./session-replicas.ts";

/** The sandbox service: unary calls go to the replica that holds their session; streams, and calls for no session, to any. */
export function sessionTransport(replicas: SessionReplicas): Transport {
  const { first } = replicas;
  return {
    unary(method, signal, timeoutMs, header, input, contextValues) {
      const { sessionId } = input as Message & { sessionId?: string };
      const attempt = (transport: Transport) => transport.unary(method, signal, timeoutMs, header, input, contextValues);
      return sessionId === undefined ? attempt(first) : replicas.call(sessionId, attempt, signal);
    },
    stream: (...given) => first.stream(...given),
  };
}
