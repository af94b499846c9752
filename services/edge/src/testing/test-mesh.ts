import type { ConnectRouter } from "@connectrpc/connect";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestIdentity } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { LocalDoorkeeper } from "../adapters/local-doorkeeper.ts";
import { connectBackends } from "../rpc/backends.ts";
import { startEdge } from "../start-edge.ts";

export const TOKEN = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
export const AUTHORIZATION = { authorization: `Bearer ${TOKEN}` };

export interface TestMesh {
  readonly url: string;
  readonly port: number;
  readonly close: () => Promise<void>;
  /** Ends the service behind the edge and leaves the edge. */
  readonly closeBackend: () => Promise<void>;
}

/** A real edge before one real server that stands for all services and verifies tokens as they do. */
export async function startTestMesh(routes: (router: ConnectRouter) => void): Promise<TestMesh> {
  const { minter, verifier } = await createTestIdentity();
  const services = [SessionService, PolicyService, AuditService, ModelService].map(({ typeName }) => typeName);
  const backend = await startRpcServer({ host: "127.0.0.1", port: 0, log: testLog, services, authenticate: verifier, routes });
  const url = `http://127.0.0.1:${backend.port}`;
  const edge = await startEdge({
    host: "127.0.0.1",
    port: 0,
    doorkeeper: new LocalDoorkeeper(TOKEN, "ada"),
    minter,
    backends: connectBackends({ orchestrator: url, "model-gateway": url, sandbox: url, policy: url, memory: url }),
    log: testLog,
  });
  return {
    url: `http://127.0.0.1:${edge.port}`,
    port: edge.port,
    closeBackend: backend.close,
    close: async () => {
      await edge.close();
      await backend.close();
    },
  };
}
