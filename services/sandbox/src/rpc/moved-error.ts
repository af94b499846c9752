import type { ConnectError } from "@connectrpc/connect";
import { SandboxMovedSchema } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { toConnectError } from "@hlvm/connect-errors/to-connect-error";
import { SessionMoved } from "../domain/placement/session-moved.ts";

/** Whatever a call throws, for its caller: where the session is another replica's, with where that is. */
export function movedError(thrown: unknown): unknown {
  if (!(thrown instanceof SessionMoved)) return thrown;
  const error: ConnectError = toConnectError(thrown);
  error.details.push({ desc: SandboxMovedSchema, value: { ...thrown.holder } });
  return error;
}

/** The method, with its errors made so. */
export function withMovedError<Given extends readonly unknown[], Response>(
  method: (...given: Given) => Promise<Response>,
): (...given: Given) => Promise<Response> {
  return (...given) =>
    method(...given).catch((thrown: unknown) => {
      throw movedError(thrown);
    });
}
