import { fromBinary, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

/** @throws ConnectError Internal where the bytes are no such message, as Connect's own parts do */
export function decodeMessage<M extends DescMessage>(type: M, bytes: Uint8Array): MessageShape<M> {
  try {
    return fromBinary(type, bytes);
  } catch (cause) {
    const what = cause instanceof Error ? cause.message : String(cause);
    throw new ConnectError(`The bytes received are no ${type.typeName}: ${what}`, Code.Internal, undefined, undefined, cause);
  }
}
