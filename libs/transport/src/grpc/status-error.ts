import { Code, ConnectError, decodeBinaryHeader, encodeBinaryHeader } from "@connectrpc/connect";
import { findTrailerError, headerGrpcMessage, headerGrpcStatus } from "@connectrpc/connect/protocol-grpc";
import { Metadata, status, type StatusObject } from "@grpc/grpc-js";

const BINARY = "-bin";
/** Which grpc-js adds itself to what came. */
const ATTEMPTS = "grpc-previous-rpc-attempts";
/** How grpc-js begins what it says of a stream that was reset: the connection failed, and not the call. */
const RESET = "Received RST_STREAM";

export function toMetadata(headers: Headers): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of headers) metadata.add(name, name.endsWith(BINARY) ? Buffer.from(decodeBinaryHeader(value)) : value);
  return metadata;
}

export function toHeaders(metadata: Metadata): Headers {
  const headers = new Headers();
  for (const name of Object.keys(metadata.getMap()))
    for (const value of metadata.get(name)) headers.append(name, typeof value === "string" ? value : encodeBinaryHeader(value));
  return headers;
}

/**
 * The error of a call's end, with the details that the service sent along; undefined where it ended well. Without an answer
 * of the service it is what grpc-js found: no connection, a reset, a deadline.
 * @param isAnswered whether the service's headers have come
 */
export function statusError({ code, details, metadata }: StatusObject, isAnswered: boolean): ConnectError | undefined {
  if (code === status.OK) return undefined;
  if (code === status.INTERNAL && details.startsWith(RESET)) return new ConnectError(details, Code.Unavailable);
  const trailer = toHeaders(metadata);
  trailer.delete(ATTEMPTS);
  // Where nothing but a status came, its headers stand beside it.
  if (!isAnswered && [...trailer.keys()].length === 0) return new ConnectError(details, code as number);
  trailer.set(headerGrpcStatus, String(code));
  trailer.set(headerGrpcMessage, encodeURIComponent(details));
  return findTrailerError(trailer);
}
