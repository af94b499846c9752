import type { DescMessage, DescMethodServerStreaming, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { CallOptions, Transport } from "@connectrpc/connect";

/**
 * Calls a method that answers with a stream. Leaving the loop cancels the call, as it does not with Connect's own clients.
 * @throws ConnectError
 */
export async function* serverStream<I extends DescMessage, O extends DescMessage>(
  transport: Transport,
  method: DescMethodServerStreaming<I, O>,
  request: MessageInitShape<I>,
  { signal, timeoutMs, headers }: CallOptions,
): AsyncGenerator<MessageShape<O>, void> {
  const cancelled = new AbortController();
  const either = signal === undefined ? cancelled.signal : AbortSignal.any([signal, cancelled.signal]);
  try {
    yield* (await transport.stream(method, either, timeoutMs, headers, only(request))).message;
  } finally {
    cancelled.abort();
  }
}

async function* only<T>(message: T): AsyncGenerator<T> {
  yield message;
}
