import type { Message } from "@bufbuild/protobuf";
import { violationsToProto } from "@bufbuild/protovalidate";
import { Code, ConnectError } from "@connectrpc/connect";
import { authenticate } from "../authenticate.ts";
import type { CallHandling } from "./call-handling.ts";
import type { ServerParts } from "./server-parts.ts";

/**
 * Lets a request through to its handler: the caller is known and the request keeps to its contract.
 * @throws HlvmError `token_missing`, `token_refused`; ConnectError InvalidArgument with the violations
 */
export async function admitRequest(handling: CallHandling, request: Message, { verifier, validator }: ServerParts): Promise<void> {
  await authenticate(verifier, handling.service, handling.header, handling.values);
  const result = validator.validate(handling.method.input, request);
  if (result.kind === "valid") return;
  const details = [];
  if (result.violations !== undefined) {
    const [value, desc] = violationsToProto(result.violations);
    details.push({ desc, value });
  }
  throw new ConnectError(result.error.message, Code.InvalidArgument, undefined, details, result.error);
}
