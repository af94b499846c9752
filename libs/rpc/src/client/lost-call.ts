import { constants } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";
import { NeverBegunError } from "./never-begun-error.ts";

const CODES: Readonly<Record<number, Code>> = {
  [constants.NGHTTP2_NO_ERROR]: Code.Unavailable,
  [constants.NGHTTP2_CANCEL]: Code.Unavailable,
  [constants.NGHTTP2_ENHANCE_YOUR_CALM]: Code.ResourceExhausted,
};

/** What became of a call whose stream ended before its answer did, though nobody on this side ended it. */
export function lostCall(rstCode: number, cause: NodeJS.ErrnoException | undefined): ConnectError {
  if (rstCode === constants.NGHTTP2_REFUSED_STREAM) return new NeverBegunError(cause);
  if (cause !== undefined && cause.code !== "ERR_HTTP2_STREAM_ERROR")
    return new ConnectError(`connection lost: ${cause.message}`, Code.Unavailable, undefined, undefined, cause);
  const code = CODES[rstCode] ?? Code.Internal;
  return new ConnectError(`connection lost (HTTP/2 code ${rstCode})`, code, undefined, undefined, cause);
}
