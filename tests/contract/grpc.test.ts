import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  credentials,
  loadPackageDefinition,
  Metadata,
  status,
  type Client,
  type GrpcObject,
  type ServiceClientConstructor,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSigningKey } from "@hlvm/identity/signing-key";
import { TokenMinter } from "@hlvm/identity/token-minter";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { repositoryRoot, startTestMesh, type TestMesh } from "../e2e/test-mesh.ts";

const UNKNOWN = "00000000-0000-4000-8000-000000000000";

/** One method of every service: what is sent, and what the answer must look like. */
const calls = [
  { service: "orchestrator", type: "hlvm.session.v1.SessionService", method: "ListSessions", request: {}, answer: { sessions: [] } },
  {
    service: "model-gateway",
    type: "hlvm.model.v1.ModelService",
    method: "ResolveModel",
    request: {},
    answer: { model: { provider: "demo" } },
  },
  {
    service: "sandbox",
    type: "hlvm.sandbox.v1.SandboxService",
    method: "DescribeIsolation",
    request: {},
    answer: { driver: "bubblewrap" },
  },
  { service: "policy", type: "hlvm.policy.v1.PolicyService", method: "ListApprovals", request: {}, answer: { approvals: [] } },
  { service: "policy", type: "hlvm.audit.v1.AuditService", method: "Query", request: { session_id: UNKNOWN }, answer: { events: [] } },
  { service: "memory", type: "hlvm.memory.v1.MemoryService", method: "SearchFacts", request: { query: "nothing" }, answer: { facts: [] } },
] as const;

const PROTO = join(repositoryRoot, "proto");
const FILES = ["session", "model", "sandbox", "policy", "audit", "memory"].map((name) => join(PROTO, "hlvm", name, "v1", `${name}.proto`));
const DEADLINE_MILLISECONDS = 10_000;

let mesh: TestMesh;
let minter: TokenMinter;
let definitions: GrpcObject;

beforeAll(async () => {
  mesh = await startTestMesh();
  minter = new TokenMinter(readSigningKey(join(mesh.directory, "keys", "edge.jwk")));
  const health = join(PROTO, "third_party", "grpc", "health", "v1", "health.proto");
  const loaded = loadSync([...FILES, health], {
    includeDirs: [PROTO, join(PROTO, "third_party")],
    keepCase: true,
    defaults: true,
    enums: String,
  });
  definitions = loadPackageDefinition(loaded);
});

afterAll(() => mesh.stop());

function clientOf(service: string, type: string): Client {
  const constructor = type
    .split(".")
    .reduce<GrpcObject>((place, name) => place[name] as GrpcObject, definitions) as unknown as ServiceClientConstructor;
  const port = mesh.state.services.find(({ name }) => name === service)!.port!;
  return new constructor(`127.0.0.1:${port}`, credentials.createInsecure());
}

function call(client: Client, method: string, request: object, metadata = new Metadata()): Promise<object> {
  return new Promise((resolve, reject) => {
    const unary = (client as unknown as Record<string, Function>)[method]!.bind(client);
    unary(request, metadata, { deadline: Date.now() + DEADLINE_MILLISECONDS }, (error: Error | null, answer: object) => {
      client.close();
      if (error === null) resolve(answer);
      else reject(error);
    });
  });
}

describe("a stock gRPC client", () => {
  it.each(calls)("calls $type/$method", async ({ service, type, method, request, answer }) => {
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${minter.mint(testPrincipal, service)}`);
    expect(await call(clientOf(service, type), method, request, metadata)).toMatchObject(answer);
  });

  it.each(calls)("is refused by $type without a token", async ({ service, type, method, request }) => {
    await expect(call(clientOf(service, type), method, request)).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
  });

  it.each(calls)("is told by $service that $type is serving", async ({ service, type }) => {
    expect(await call(clientOf(service, "grpc.health.v1.Health"), "Check", { service: type })).toEqual({ status: "SERVING" });
  });

  it("reaches the public methods through the edge with the local user's token, and nothing without it", async () => {
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${readFileSync(mesh.state.tokenFile, "utf8").trim()}`);
    expect(await call(clientOf("edge", "hlvm.session.v1.SessionService"), "ListSessions", {}, metadata)).toMatchObject({ sessions: [] });
    await expect(call(clientOf("edge", "hlvm.session.v1.SessionService"), "ListSessions", {})).rejects.toMatchObject({
      code: status.UNAUTHENTICATED,
    });
    expect(await call(clientOf("edge", "grpc.health.v1.Health"), "Check", {}, metadata)).toEqual({ status: "SERVING" });
    await expect(call(clientOf("edge", "grpc.health.v1.Health"), "Check", {})).rejects.toMatchObject({ code: status.UNAUTHENTICATED });
  });
});
