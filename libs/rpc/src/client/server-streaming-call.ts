import type { ClientHttp2Stream } from "node:http2";
import type { DescMessage, DescMethodStreaming, MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type StreamResponse } from "@connectrpc/connect";
import { compressedFlag, encodeEnvelope } from "@connectrpc/connect/protocol";
import { endStreamFlag, endStreamFromJson } from "@connectrpc/connect/protocol-connect";
import { decodeMessage } from "../wire/decode-message.ts";
import { MESSAGE_FLAGS } from "../wire/message-flags.ts";
import { webHeaders } from "../wire/web-headers.ts";
import type { CallLimits } from "./call-limits.ts";
import { checkResponse } from "./check-response.ts";
import { StreamExchange } from "./stream-exchange.ts";

/** One message there, many back; leaving the loop over them cancels the call. @throws ConnectError */
export async function serverStreamingCall<I extends DescMessage, O extends DescMessage>(
  method: DescMethodStreaming<I, O>,
  stream: ClientHttp2Stream,
  request: Uint8Array,
  limits: CallLimits,
  maximumBytes: number,
): Promise<StreamResponse<I, O>> {
  const exchange = new StreamExchange(stream, encodeEnvelope(MESSAGE_FLAGS, request), limits, maximumBytes);
  const headers = await exchange.headers();
  try {
    checkResponse(method, headers);
  } catch (thrown) {
    exchange.cancel();
    throw thrown;
  }
  const trailer = new Headers();
  return {
    stream: true,
    service: method.parent,
    method,
    message: messages(method.output, exchange, trailer),
    get header() {
      return webHeaders(headers);
    },
    trailer,
  };
}

async function* messages<O extends DescMessage>(
  type: O,
  exchange: StreamExchange,
  trailer: Headers,
): AsyncGenerator<MessageShape<O>, void> {
  let hasEnded = false;
  try {
    for (let envelope = await exchange.next(); envelope !== undefined; envelope = await exchange.next()) {
      const { flags, data } = envelope;
      if (hasEnded) throw new ConnectError("The stream goes on after its end.", Code.InvalidArgument);
      if ((flags & compressedFlag) !== 0) throw new ConnectError("The message is compressed, which nobody asked for.", Code.Internal);
      if ((flags & endStreamFlag) === 0) {
        yield decodeMessage(type, data);
        continue;
      }
      const { metadata, error } = endStreamFromJson(data);
      if (error !== undefined) throw error;
      metadata.forEach((value, name) => trailer.append(name, value));
      hasEnded = true;
    }
    if (!hasEnded) throw new ConnectError("The stream breaks off: its end is missing.", Code.InvalidArgument);
  } finally {
    exchange.cancel();
  }
}
