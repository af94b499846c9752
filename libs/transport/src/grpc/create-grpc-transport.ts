import type { DescMessage, DescMethodStreaming, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextValues, type Interceptor, type Transport } from "@connectrpc/connect";
import { createMethodSerializationLookup, createMethodUrl, runStreamingCall, runUnaryCall } from "@connectrpc/connect/protocol";
import { Client, credentials } from "@grpc/grpc-js";
import { MAXIMUM_MESSAGE_BYTES } from "../maximum-message-bytes.ts";
import { CHANNEL_OPTIONS } from "./channel-options.ts";
import { openCall } from "./open-call.ts";

const LIMITS = { readMaxBytes: MAXIMUM_MESSAGE_BYTES, writeMaxBytes: MAXIMUM_MESSAGE_BYTES };

interface CallMade<I extends DescMessage> {
  readonly header: Headers;
  readonly signal: AbortSignal;
  readonly messages: AsyncIterable<MessageShape<I>>;
}

/**
 * Connections to all replicas of a service, each call to the next one, in gRPC: a channel of grpc-js behind Connect's interface.
 * @param target as grpc-js has it: `dns:///host:port`, `ipv4:host:port,host:port`
 * @param defaultTimeoutMs of a call without a deadline of its own
 */
export function createGrpcTransport(target: string, interceptors: readonly Interceptor[], defaultTimeoutMs: number): Transport {
  const client = new Client(target, credentials.createInsecure(), CHANNEL_OPTIONS);

  async function make<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O> | DescMethodStreaming<I, O>,
    timeoutMs: number | undefined,
    { header, signal, messages }: CallMade<I>,
  ) {
    const serialization = createMethodSerializationLookup(method, undefined, undefined, LIMITS);
    const [input, output] = [serialization.getI(true), serialization.getO(true)];
    const opened = await openCall(client, {
      path: `/${method.parent.typeName}/${method.name}`,
      header,
      deadline: timeoutMs === undefined ? undefined : Date.now() + timeoutMs,
      signal,
      messages: mapped(messages, (message) => input.serialize(message)),
    });
    return { header: opened.header, trailer: opened.trailer, message: mapped(opened.messages, (bytes) => output.parse(bytes)) };
  }

  const limit = (given: number | undefined): number | undefined => {
    const timeoutMs = given ?? defaultTimeoutMs;
    return timeoutMs > 0 ? timeoutMs : undefined;
  };
  const describe = <Method extends DescMethodUnary | DescMethodStreaming>(
    method: Method,
    header: ConstructorParameters<typeof Headers>[0],
  ) => ({
    service: method.parent,
    method,
    requestMethod: "POST" as const,
    url: createMethodUrl(target, method),
    header: new Headers(header),
  });

  return {
    unary(method, signal, given, header, message, contextValues = createContextValues()) {
      const timeoutMs = limit(given);
      return runUnaryCall({
        interceptors: [...interceptors],
        signal,
        timeoutMs,
        req: { ...describe(method, header), stream: false, contextValues, message },
        next: async (request) => {
          const messages = only(request.message);
          const answer = await make(method, timeoutMs, { header: request.header, signal: request.signal, messages });
          return { ...answer, message: await single(answer.message), stream: false, service: method.parent, method };
        },
      });
    },
    stream(method, signal, given, header, message, contextValues = createContextValues()) {
      const timeoutMs = limit(given);
      return runStreamingCall({
        interceptors: [...interceptors],
        signal,
        timeoutMs,
        req: { ...describe(method, header), stream: true, contextValues, message },
        next: async (request) => {
          const answer = await make(method, timeoutMs, { header: request.header, signal: request.signal, messages: request.message });
          return { ...answer, stream: true, service: method.parent, method };
        },
      });
    },
  };
}

async function single<T>(messages: AsyncIterable<T>): Promise<T> {
  const found: T[] = [];
  for await (const message of messages) found.push(message);
  if (found.length !== 1) throw new ConnectError(`The service answered with ${found.length} messages instead of one.`, Code.Unimplemented);
  return found[0]!;
}

async function* mapped<From, To>(messages: AsyncIterable<From>, change: (message: From) => To): AsyncGenerator<To, void> {
  for await (const message of messages) yield change(message);
}

async function* only<T>(message: T): AsyncGenerator<T> {
  yield message;
}
