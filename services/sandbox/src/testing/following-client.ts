import { createClient, type Client } from "@connectrpc/connect";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { SessionReplicas } from "@hlvm/session-replicas/session-replicas";
import { sessionTransport } from "@hlvm/session-replicas/session-transport";

/** A caller that knows one replica and finds the others, as the orchestrator and the edge do. */
export function followingClient(address: string): Client<typeof SandboxService> {
  const replicas = new SessionReplicas(createMeshTransport(address), []);
  return {
    ...createClient(SandboxService, sessionTransport(replicas)),
    execute: (request, options) =>
      replicas.stream(
        request.call!.sessionId!,
        (transport) => createClient(SandboxService, transport).execute(request, options),
        options?.signal,
      ),
  };
}
