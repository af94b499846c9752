import type { OutgoingHttpHeaders } from "node:http2";
import type { DescMethod } from "@bufbuild/protobuf";
import type { HeadersInput } from "../wire/headers-input.ts";
import { writeHeaders } from "../wire/write-headers.ts";

const PROTOCOL_VERSION = "1";

/** The headers of a call in Connect's protocol, with those that the caller adds. */
export function requestHeaders(
  path: string,
  method: DescMethod,
  timeoutMilliseconds: number | undefined,
  added: HeadersInput | undefined,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  if (added !== undefined) writeHeaders(headers, added);
  headers[":method"] = "POST";
  headers[":path"] = path;
  headers["content-type"] = method.methodKind === "unary" ? "application/proto" : "application/connect+proto";
  headers["connect-protocol-version"] = PROTOCOL_VERSION;
  if (timeoutMilliseconds !== undefined) headers["connect-timeout-ms"] = String(Math.ceil(timeoutMilliseconds));
  return headers;
}
