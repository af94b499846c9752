import { createContextValues, type Interceptor, type Transport } from "@connectrpc/connect";
import { createMethodUrl, runStreamingCall, runUnaryCall } from "@connectrpc/connect/protocol";
import { requestHeader } from "@connectrpc/connect/protocol-connect";

/** A transport whose calls go through interceptors first. */
export function interceptedTransport(baseUrl: string, bare: Transport, interceptors: readonly Interceptor[]): Transport {
  return {
    unary: (method, signal, timeoutMs, header, message, contextValues) =>
      runUnaryCall({
        interceptors: [...interceptors],
        signal,
        req: {
          stream: false,
          service: method.parent,
          method,
          requestMethod: "POST",
          url: createMethodUrl(baseUrl, method),
          header: requestHeader(method.methodKind, true, undefined, header, false),
          contextValues: contextValues ?? createContextValues(),
          message,
        },
        next: (request) => bare.unary(method, request.signal, timeoutMs, request.header, request.message, request.contextValues),
      }),
    stream: (method, signal, timeoutMs, header, input, contextValues) =>
      runStreamingCall({
        interceptors: [...interceptors],
        signal,
        req: {
          stream: true,
          service: method.parent,
          method,
          requestMethod: "POST",
          url: createMethodUrl(baseUrl, method),
          header: requestHeader(method.methodKind, true, undefined, header, false),
          contextValues: contextValues ?? createContextValues(),
          message: input,
        },
        next: (request) => bare.stream(method, request.signal, timeoutMs, request.header, request.message, request.contextValues),
      }),
  };
}
