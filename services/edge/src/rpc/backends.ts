import type { Transport } from "@connectrpc/connect";
import { createMeshTransport } from "@hlvm/rpc/create-mesh-transport";
import type { BackendName } from "./public-methods.ts";

/** How one service behind the edge is reached. */
export interface Backend {
  readonly name: BackendName;
  readonly unary: Transport;
  /** A connection of its own: any number of watchers must not use up the streams of unary calls. */
  readonly streaming: Transport;
}

export type Backends = Readonly<Record<BackendName, Backend>>;

export function connectBackends(urls: Readonly<Record<BackendName, string>>): Backends {
  const backend = (name: BackendName): Backend => ({
    name,
    unary: createMeshTransport(urls[name]),
    streaming: createMeshTransport(urls[name]),
  });
  return {
    orchestrator: backend("orchestrator"),
    "model-gateway": backend("model-gateway"),
    sandbox: backend("sandbox"),
    policy: backend("policy"),
    memory: backend("memory"),
  };
}
