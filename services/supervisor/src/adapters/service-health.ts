import { readFileSync } from "node:fs";

/**
 * Asks a service for its health, as gRPC has it: `grpc.health.v1`. What that takes is loaded with the first question, so
 * that a mesh that lives for one command does not pay for it.
 * @param tokenFile whose token the service demands of everybody; undefined where it leaves health open
 */
export function serviceHealth(baseUrl: string, tokenFile: string | undefined): (deadlineMilliseconds: number) => Promise<void> {
  const client = once(() => connectHealth(baseUrl));
  return async (deadlineMilliseconds) => {
    const { health, serving } = await client();
    const headers: Record<string, string> =
      tokenFile === undefined ? {} : { authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` };
    const { status } = await health.check({}, { timeoutMs: deadlineMilliseconds, headers });
    if (status !== serving) throw new Error(`It answers that its status is ${status}.`);
  };
}

async function connectHealth(baseUrl: string) {
  const [{ createClient }, { Health, HealthCheckResponse_ServingStatus: Status }, { createMeshTransport }] = await Promise.all([
    import("@connectrpc/connect"),
    import("@hlvm/proto/grpc/health/v1/health_pb"),
    import("@hlvm/transport/create-mesh-transport"),
  ]);
  return { health: createClient(Health, createMeshTransport(baseUrl, [])), serving: Status.SERVING };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
