import type { ClientHttp2Stream } from "node:http2";
import type { DescMessage, DescMethodUnary } from "@bufbuild/protobuf";
import { appendHeaders, type UnaryResponse } from "@connectrpc/connect";
import { errorFromJsonBytes, trailerDemux } from "@connectrpc/connect/protocol-connect";
import { decodeMessage } from "../wire/decode-message.ts";
import { webHeaders } from "../wire/web-headers.ts";
import type { CallLimits } from "./call-limits.ts";
import { checkResponse } from "./check-response.ts";
import { unaryExchange } from "./unary-exchange.ts";

/** One message there, one back. @throws ConnectError */
export async function unaryCall<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  stream: ClientHttp2Stream,
  request: Uint8Array,
  limits: CallLimits,
  maximumBytes: number,
): Promise<UnaryResponse<I, O>> {
  const { headers, body } = await unaryExchange(stream, request, limits, maximumBytes);
  const failure = checkResponse(method, headers);
  if (failure !== undefined) throw errorFromJsonBytes(body, appendHeaders(...trailerDemux(webHeaders(headers))), failure);
  return {
    stream: false,
    service: method.parent,
    method,
    message: decodeMessage(method.output, body),
    // Made when asked for: hardly any caller looks at them.
    get header() {
      return trailerDemux(webHeaders(headers))[0];
    },
    get trailer() {
      return trailerDemux(webHeaders(headers))[1];
    },
  };
}
