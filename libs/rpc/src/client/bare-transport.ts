import type { ClientHttp2Stream } from "node:http2";
import { create, toBinary, type DescMessage, type DescMethod, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import type { HeadersInput } from "../wire/headers-input.ts";
import { MAXIMUM_MESSAGE_BYTES } from "../wire/maximum-message-bytes.ts";
import { CallLimits } from "./call-limits.ts";
import { effectiveTimeout } from "./effective-timeout.ts";
import { MeshConnection } from "./mesh-connection.ts";
import { NeverBegunError } from "./never-begun-error.ts";
import { onlyMessage } from "./only-message.ts";
import { requestHeaders } from "./request-headers.ts";
import { serverStreamingCall } from "./server-streaming-call.ts";
import { unaryCall } from "./unary-call.ts";

type Call<T> = (stream: ClientHttp2Stream, request: Uint8Array, limits: CallLimits) => Promise<T>;

/**
 * Connect's protocol on one HTTP/2 connection, as lean as Node allows: unary and server-streaming calls, binary and
 * uncompressed. A call that the peer refused before it began, as a peer that shuts down does, is made once more.
 */
export function bareTransport(baseUrl: string): Transport {
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/$/, "");
  let connection: MeshConnection | undefined;

  async function perform<I extends DescMessage, T>(
    method: DescMethod & { input: I },
    signal: AbortSignal | undefined,
    timeoutMilliseconds: number | undefined,
    added: HeadersInput | undefined,
    message: MessageInitShape<I>,
    call: Call<T>,
  ): Promise<T> {
    const timeout = effectiveTimeout(timeoutMilliseconds);
    const limits = new CallLimits(signal, timeout);
    const request = toBinary(method.input, create(method.input, message));
    const headers = requestHeaders(`${prefix}/${method.parent.typeName}/${method.name}`, method, timeout, added);
    const attempt = (): Promise<T> => {
      limits.throwIfAborted();
      if (connection === undefined || !connection.isUsable) connection = new MeshConnection(origin);
      return call(connection.request(headers), request, limits);
    };
    try {
      return await attempt();
    } catch (thrown) {
      if (!NeverBegunError.is(thrown)) throw ConnectError.from(thrown, Code.Internal);
      return attempt();
    }
  }

  return {
    unary: (method, signal, timeoutMilliseconds, added, message) =>
      perform(method, signal, timeoutMilliseconds, added, message, (stream, request, limits) =>
        unaryCall(method, stream, request, limits, MAXIMUM_MESSAGE_BYTES),
      ),
    stream: async (method, signal, timeoutMilliseconds, added, messages) =>
      perform(method, signal, timeoutMilliseconds, added, await onlyMessage(method, messages), (stream, request, limits) =>
        serverStreamingCall(method, stream, request, limits, MAXIMUM_MESSAGE_BYTES),
      ),
  };
}
