import { once } from "node:events";
import { createServer } from "node:net";
import { HlvmError } from "@hlvm/errors/hlvm-error";

/**
 * llama-server shares its port with any other one that lets it, and requests would come to either.
 * @throws HlvmError `port_taken`
 */
export async function demandFreePort(host: string, port: number): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen({ host, port, exclusive: true }), "listening");
  } catch (cause) {
    throw new HlvmError({
      code: "failed_precondition",
      reason: "port_taken",
      message: `Something listens at ${host}:${port} already.`,
      advice: "End it first: another `hlvm model serve` perhaps. What is local/… to a mesh is at that port and nowhere else.",
      cause,
    });
  }
  server.close();
  await once(server, "close");
}
