import { createClient } from "@connectrpc/connect";
import { SharedCallStreams } from "@hlvm/call-stream/shared-call-streams";
import type { ServiceName } from "@hlvm/identity/service-name";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { retryInterceptor } from "@hlvm/transport/retry-interceptor";
import { SessionReplicas } from "@hlvm/session-replicas/session-replicas";
import { traceClientInterceptor } from "@hlvm/telemetry/trace-interceptors";
import type { Mesh } from "../../domain/loop/ports.ts";
import type { ModelWork } from "../../domain/memory-work/model-work.ts";
import { MeshAudit } from "./mesh-audit.ts";
import { MeshCaller, type RunCaller } from "./mesh-caller.ts";
import { MeshDoorModels } from "./mesh-door-models.ts";
import { MeshMemory } from "./mesh-memory.ts";
import { MeshModelWork } from "./mesh-model-work.ts";
import { MeshModels } from "./mesh-models.ts";
import { MeshPolicy } from "./mesh-policy.ts";
import { MeshSandbox } from "./mesh-sandbox.ts";
import { MeshTrust } from "./mesh-trust.ts";
import { openModelCalls, type SharedModelCalls } from "./model-calls.ts";
import { policyCalls } from "./policy-calls.ts";
import { WorkspaceGrants, type WorkspaceOwnerOf } from "./workspace-grants.ts";

export interface MeshUrls {
  readonly modelGatewayUrl: string;
  readonly policyUrl: string;
  readonly sandboxUrl: string;
  readonly memoryUrl: string;
}

/** @returns the other services, for the calls of one run */
export function connectMesh(
  urls: MeshUrls,
  minter: TokenMinter,
  ownerOf: WorkspaceOwnerOf,
): (run: RunCaller) => Mesh & { readonly modelWork: ModelWork } {
  const interceptors = [traceClientInterceptor, retryInterceptor];
  const models = createClient(ModelService, createMeshTransport(urls.modelGatewayUrl, interceptors));
  const modelCalls: SharedModelCalls = new SharedCallStreams((isShared) => openModelCalls(models, isShared));
  const policy = createMeshTransport(urls.policyUrl, interceptors);
  const sandboxes = new SessionReplicas(createMeshTransport(urls.sandboxUrl, interceptors), [traceClientInterceptor]);
  const memory = createMeshTransport(urls.memoryUrl, interceptors);
  return (run) => {
    const callerOf = (service: ServiceName): MeshCaller => new MeshCaller(minter, run, service);
    const policyCaller = callerOf("policy");
    const calls = policyCalls(policy);
    return {
      models: new MeshModels(models, modelCalls, callerOf("model-gateway")),
      doorModels: new MeshDoorModels(models, callerOf("model-gateway")),
      policy: new MeshPolicy(policy, calls, policyCaller),
      audit: new MeshAudit(policy, calls, policyCaller),
      sandbox: new MeshSandbox(sandboxes, callerOf("sandbox"), new WorkspaceGrants(policy, policyCaller, ownerOf)),
      trust: new MeshTrust(policy, policyCaller),
      memory: new MeshMemory(memory, callerOf("memory")),
      modelWork: new MeshModelWork(memory, callerOf("memory")),
    };
  };
}
