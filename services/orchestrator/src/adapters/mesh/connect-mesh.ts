import type { Principal } from "@hlvm/identity/principal";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { createMeshTransport } from "@hlvm/rpc/create-mesh-transport";
import type { Mesh } from "../../domain/loop/ports.ts";
import { MeshAudit } from "./mesh-audit.ts";
import { MeshCaller } from "./mesh-caller.ts";
import { MeshMemory } from "./mesh-memory.ts";
import { MeshModels } from "./mesh-models.ts";
import { MeshPolicy } from "./mesh-policy.ts";
import { MeshSandbox } from "./mesh-sandbox.ts";

export interface MeshUrls {
  readonly modelGatewayUrl: string;
  readonly policyUrl: string;
  readonly sandboxUrl: string;
  readonly memoryUrl: string;
}

/** @returns the other services, for calls in somebody's name */
export function connectMesh(urls: MeshUrls, minter: TokenMinter): (principal: Principal, traceId: string) => Mesh {
  const models = createMeshTransport(urls.modelGatewayUrl);
  const policy = createMeshTransport(urls.policyUrl);
  const sandbox = createMeshTransport(urls.sandboxUrl);
  const memory = createMeshTransport(urls.memoryUrl);
  return (principal, traceId) => {
    const caller = new MeshCaller(minter, principal, traceId);
    return {
      models: new MeshModels(models, caller),
      policy: new MeshPolicy(policy, caller),
      audit: new MeshAudit(policy, caller),
      sandbox: new MeshSandbox(sandbox, caller),
      memory: new MeshMemory(memory, caller),
    };
  };
}
