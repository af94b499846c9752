import { fromBinary, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

/** @throws ConnectError where the bytes are no such message: an answer's Internal, as Connect's own parts do, a request's InvalidArgument */
export function decodeMessage<M extends DescMessage>(type: M, bytes: Uint8Array, code = Code.Internal): MessageShape<M> {
  try {
    return fromBinary(type, bytes);
  } catch (cause) {
    const what = cause instanceof Error ? cause.message : String(cause);
    throw new ConnectError(`The bytes received are no ${type.typeName}: ${what}`, code, undefined, undefined, cause);
  }
}
