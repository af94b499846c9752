import { Code, ConnectError } from "@connectrpc/connect";

/** Of Node and of HTTP/2, for what happens to a connection. */
const CONNECTION_CODES = /^(E[A-Z]{4,}|ERR_HTTP2_|ERR_STREAM_)/;
/** As connect-node and grpc-js say it. */
const REFUSED = /REFUSED_STREAM|^Stream refused by server$/;
/** As grpc-js says that no replica has a connection, or that none is known. Node says it with a code. */
const UNCONNECTED = /^(round_robin: )?No connection established\.|^No addresses resolved\.|^Name resolution failed /;

/** The service refused the call before it began, as one that is draining does. */
export function wasRefused(thrown: unknown): boolean {
  return causesHere(thrown).some((error) => REFUSED.test(messageOf(error)));
}

/** The service refused the call, or nobody took the connection: it may be made again, whatever it does. */
export function isNeverStarted(thrown: unknown): boolean {
  return wasRefused(thrown) || causesHere(thrown).some((error) => codeOf(error) === "ECONNREFUSED" || UNCONNECTED.test(messageOf(error)));
}

/** Whether the connection failed, and not the call. connect-node tells some of that as cancelled or aborted. */
export function isConnectionFailure(error: ConnectError): boolean {
  if (error.code === Code.DeadlineExceeded || error.code === Code.ResourceExhausted) return false;
  const isCut = error.code === Code.Canceled || error.code === Code.Aborted;
  return isCut || causesHere(error).some((cause) => CONNECTION_CODES.test(codeOf(cause)));
}

/** An error and its causes, outermost first. None of what a service said: whatever stands in its words, the call has reached it. */
function causesHere(thrown: unknown): Error[] {
  const found: Error[] = [];
  for (let error = thrown; error instanceof Error && !found.includes(error); error = error.cause) {
    if (error instanceof ConnectError && error.isWireError) return [];
    found.push(error);
  }
  return found;
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

function messageOf(error: Error): string {
  return error instanceof ConnectError ? error.rawMessage : error.message;
}
