import type { IncomingHttpHeaders } from "node:http2";
import type { DescMethod } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { validateResponseWithCompression } from "@connectrpc/connect/protocol-connect";
import { webHeaders } from "../wire/web-headers.ts";

/**
 * Whether the response is what was asked for. @returns for a unary call that failed the error to fall back to where
 * the body tells none. @throws ConnectError where the response is none of this protocol
 */
export function checkResponse(method: DescMethod, headers: IncomingHttpHeaders): ConnectError | undefined {
  const status = Number(headers[":status"]);
  const isUnary = method.methodKind === "unary";
  const isExpected =
    status === 200 &&
    headers["content-type"] === (isUnary ? "application/proto" : "application/connect+proto") &&
    headers[isUnary ? "content-encoding" : "connect-content-encoding"] === undefined;
  if (isExpected) return undefined;
  const checked = validateResponseWithCompression(method.methodKind, [], true, status, webHeaders(headers));
  return checked.isUnaryError ? checked.unaryError : undefined;
}
