import { Code, ConnectError } from "@connectrpc/connect";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";

/** What the caller is told: `code reason`. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof ConnectError)) throw new Error("nothing was refused", { cause: thrown });
  return `${Code[thrown.code]} ${fromConnectError(thrown).reason}`;
}
