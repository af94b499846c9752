import type { DescMessage, DescMethodServerStreaming, DescMethodUnary, MessageShape } from "@bufbuild/protobuf";
import type { CallOptions, HandlerContext, MethodImpl } from "@connectrpc/connect";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { callContext, outgoing } from "@hlvm/rpc/call-context";
import { serverStream } from "@hlvm/transport/server-stream";
import type { Backend } from "./backends.ts";
import { passedOnError } from "./passed-on-error.ts";

/** A stream without a deadline of its own lives as long as its client: 0 switches the transport's default off. */
const NO_DEADLINE = 0;

type Unary = DescMethodUnary<DescMessage, DescMessage>;
type ServerStreaming = DescMethodServerStreaming<DescMessage, DescMessage>;

/** Further headers of a call that is handed on. */
export type MoreHeaders = (request: MessageShape<DescMessage>, context: HandlerContext) => Promise<Readonly<Record<string, string>>>;

/** Hands one call on with an internal token for who answers it, the trace, the deadline and the cancellation. */
export function forwardUnary(method: Unary, backend: Backend, minter: TokenMinter, more?: MoreHeaders): MethodImpl<Unary> {
  return async (request: MessageShape<DescMessage>, context: HandlerContext) => {
    const added = await more?.(request, context);
    const { headers: own, signal, timeoutMs } = onward(context, backend, minter);
    const headers = { ...(own as Record<string, string>), ...added };
    try {
      return (await backend.transport.unary(method, signal, timeoutMs, headers, request)).message;
    } catch (thrown) {
      throw passedOnError(thrown, backend.name, context.signal);
    }
  };
}

/** The same for a stream of answers: as fast as the client reads, and cancelled when the client goes. */
export function forwardServerStreaming(method: ServerStreaming, backend: Backend, minter: TokenMinter): MethodImpl<ServerStreaming> {
  return async function* (request: MessageShape<DescMessage>, context: HandlerContext) {
    const { headers, signal, timeoutMs } = onward(context, backend, minter);
    try {
      yield* serverStream(backend.transport, method, request, { headers, signal, timeoutMs: timeoutMs ?? NO_DEADLINE });
    } catch (thrown) {
      throw passedOnError(thrown, backend.name, context.signal);
    }
  };
}

function onward(context: HandlerContext, backend: Backend, minter: TokenMinter): CallOptions {
  const call = callContext(context);
  return outgoing({ ...call, token: minter.mint(call.principal, backend.name) });
}
