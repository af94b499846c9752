import { ConnectError } from "@connectrpc/connect";
import { SandboxMovedSchema } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";

/** Where a refusal says that the session is; undefined where it says nothing of it. */
export async function movedTo(call: Promise<unknown>): Promise<{ address: string; epoch: bigint } | undefined> {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof ConnectError)) return undefined;
  const [moved] = thrown.findDetails(SandboxMovedSchema);
  return moved && { address: moved.address, epoch: moved.epoch };
}
