import type { DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

/** The one message of a server-streaming call. @throws ConnectError where the method is of another kind, or it is not one message */
export async function onlyMessage<T>(method: DescMethod, messages: AsyncIterable<T>): Promise<T> {
  if (method.methodKind !== "server_streaming")
    throw new ConnectError(`${method.name} streams its requests, which no service of the mesh does.`, Code.Unimplemented);
  const iterator = messages[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true) throw new ConnectError("A server-streaming call needs its one message.", Code.InvalidArgument);
  if ((await iterator.next()).done !== true)
    throw new ConnectError("A server-streaming call takes one message only.", Code.InvalidArgument);
  return first.value;
}
