import { createClient } from "@connectrpc/connect";
import type { Principal } from "@hlvm/identity/principal";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
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
  const models = createClient(ModelService, createMeshTransport(urls.modelGatewayUrl));
  const policyTransport = createMeshTransport(urls.policyUrl);
  const policy = createClient(PolicyService, policyTransport);
  const audit = createClient(AuditService, policyTransport);
  const sandbox = createClient(SandboxService, createMeshTransport(urls.sandboxUrl));
  const memory = createClient(MemoryService, createMeshTransport(urls.memoryUrl));
  return (principal, traceId) => {
    const caller = new MeshCaller(minter, principal, traceId);
    return {
      models: new MeshModels(models, caller),
      policy: new MeshPolicy(policy, caller),
      audit: new MeshAudit(audit, caller),
      sandbox: new MeshSandbox(sandbox, caller),
      memory: new MeshMemory(memory, caller),
    };
  };
}
