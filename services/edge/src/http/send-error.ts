import type { HlvmError } from "@hlvm/errors/hlvm-error";
import { codeToHttpStatus, errorToJson } from "@connectrpc/connect/protocol-connect";
import { toConnectError } from "@hlvm/connect-errors/to-connect-error";
import type { NodeHandlerFn } from "@hlvm/rpc/node-handler";

export type Response = Parameters<NodeHandlerFn>[1];

/**
 * Answers with an error that plain HTTP clients read from `error`, and Connect clients from the fields that their
 * protocol names. gRPC clients go by the status.
 */
export function sendError(response: Response, error: HlvmError): void {
  const connectError = toConnectError(error);
  const { message, advice, reason } = error;
  const body = JSON.stringify({ ...errorToJson(connectError, undefined), error: { message, advice, reason } });
  response.writeHead(codeToHttpStatus(connectError.code), {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...(error.code === "unauthenticated" ? { "www-authenticate": "Bearer" } : {}),
  });
  response.end(body);
}
