import type { DescMessage, DescMethodServerStreaming, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { CallOptions, Transport } from "@connectrpc/connect";

/**
 * Calls a method that answers with a stream, over a transport without interceptors. Leaving the loop cancels the call, as
 * it does not with Connect's own clients, and nothing lies between the transport's messages and the reader.
 * @throws ConnectError
 */
export async function* serverStream<I extends DescMessage, O extends DescMessage>(
  transport: Transport,
  method: DescMethodServerStreaming<I, O>,
  request: MessageInitShape<I>,
  { signal, timeoutMs, headers }: CallOptions,
): AsyncGenerator<MessageShape<O>, void> {
  const { message } = await transport.stream(method, signal, timeoutMs, headers, only(request));
  yield* message;
}

async function* only<T>(message: T): AsyncGenerator<T> {
  yield message;
}
