import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type { Status, StatusSchema } from "@hlvm/proto/hlvm/call/v1/call_pb";

/** How a call on a stream failed, for its caller. */
export function toStatus(error: ConnectError): MessageInitShape<typeof StatusSchema> {
  const details = error.details.map((detail) =>
    "desc" in detail
      ? { typeUrl: detail.desc.typeName, value: toBinary(detail.desc, create(detail.desc, detail.value)) }
      : { typeUrl: detail.type, value: detail.value },
  );
  return { code: error.code, message: error.rawMessage, details };
}

/** The error that `toStatus` was told of. */
export function fromStatus({ code, message, details }: Status): ConnectError {
  const error = new ConnectError(message, code);
  error.details = details.map(({ typeUrl, value }) => ({ type: typeUrl, value }));
  return error;
}
