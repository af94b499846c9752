import { Code, ConnectError } from "@connectrpc/connect";
import { MAXIMUM_MESSAGE_BYTES } from "./maximum-message-bytes.ts";

/** The same message. @throws ConnectError ResourceExhausted where it is too large to be carried */
export function withinLimit(message: Uint8Array): Uint8Array {
  if (message.length <= MAXIMUM_MESSAGE_BYTES) return message;
  throw new ConnectError(`The message has ${message.length} bytes; the limit is ${MAXIMUM_MESSAGE_BYTES}.`, Code.ResourceExhausted);
}
