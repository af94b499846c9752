import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { violationsToProto } from "@bufbuild/protovalidate";
import { Code, ConnectError } from "@connectrpc/connect";
import { authenticate } from "../authenticate.ts";
import type { ServerCall } from "./server-call.ts";

/**
 * Lets a request through to its handler: the caller is known and the request keeps to its contract.
 * @throws HlvmError `token_missing`, `token_refused`; ConnectError InvalidArgument with the violations
 */
export async function admitRequest<I extends DescMessage>(
  { server, handling, authorization }: ServerCall,
  type: I,
  request: MessageShape<I>,
): Promise<void> {
  await authenticate(server.verifier, handling.service, authorization, handling.values);
  const result = server.validator.validate(type, request);
  if (result.kind === "valid") return;
  const details = [];
  if (result.violations !== undefined) {
    const [value, desc] = violationsToProto(result.violations);
    details.push({ desc, value });
  }
  throw new ConnectError(result.error.message, Code.InvalidArgument, undefined, details, result.error);
}
