import type { Transport } from "@connectrpc/connect";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { SessionReplicas } from "@hlvm/session-replicas/session-replicas";
import { sessionTransport } from "@hlvm/session-replicas/session-transport";
import { traceClientInterceptor } from "@hlvm/telemetry/trace-interceptors";
import type { BackendName } from "./public-methods.ts";

/** How one service behind the edge is reached. */
export interface Backend {
  readonly name: BackendName;
  readonly transport: Transport;
}

export type Backends = Readonly<Record<BackendName, Backend>>;

export function connectBackends(urls: Readonly<Record<BackendName, string>>): Backends {
  const interceptors = [traceClientInterceptor];
  const transportTo = (name: BackendName): Transport => createMeshTransport(urls[name], interceptors);
  const backend = (name: BackendName): Backend => ({ name, transport: transportTo(name) });
  return {
    orchestrator: backend("orchestrator"),
    "model-gateway": backend("model-gateway"),
    sandbox: { name: "sandbox", transport: sessionTransport(new SessionReplicas(transportTo("sandbox"), interceptors)) },
    policy: backend("policy"),
    memory: backend("memory"),
  };
}
