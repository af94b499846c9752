import { ConnectError } from "@connectrpc/connect";
import { errorToJsonBytes } from "@connectrpc/connect/protocol-connect";

/** With a call's last answers, what is sent at a time has to stay below its limit. */
const MAXIMUM_ERROR_BYTES = 32 * 1024;
const MAXIMUM_MESSAGE_LENGTH = 2_000;

/** An error as Connect writes it; of one that is too large to be carried its code and the beginning of its message. */
export function errorJson(error: ConnectError): Uint8Array {
  const json = errorToJsonBytes(error, undefined);
  if (json.length <= MAXIMUM_ERROR_BYTES) return json;
  return errorToJsonBytes(new ConnectError(error.rawMessage.slice(0, MAXIMUM_MESSAGE_LENGTH), error.code), undefined);
}
