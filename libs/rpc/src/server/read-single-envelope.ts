import { Code, ConnectError } from "@connectrpc/connect";
import { compressedFlag } from "@connectrpc/connect/protocol";
import { endStreamFlag } from "@connectrpc/connect/protocol-connect";
import { EnvelopeSplitter } from "../wire/envelope-splitter.ts";

/** The message in the body of a server-streaming request, which has exactly one. @throws ConnectError where it has not */
export function readSingleEnvelope(body: Uint8Array, maximumMessageBytes: number): Uint8Array {
  const splitter = new EnvelopeSplitter(maximumMessageBytes);
  const messages = splitter.push(body).filter(({ flags }) => (flags & endStreamFlag) === 0);
  if (!splitter.isEmpty) throw new ConnectError("The request ends within a message.", Code.InvalidArgument);
  const [first, second] = messages;
  if (first === undefined) throw new ConnectError("The request has no message.", Code.Unimplemented);
  if (second !== undefined) throw new ConnectError("The request has more than one message.", Code.Unimplemented);
  if ((first.flags & compressedFlag) !== 0)
    throw new ConnectError("The message is compressed, though the request names no encoding.", Code.Internal);
  return first.data;
}
