import { createClient } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SessionService } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { retryInterceptor } from "@hlvm/transport/retry-interceptor";
import type { RpcServer } from "@hlvm/rpc/start-rpc-server";
import { keepCalling } from "./testing/keep-calling.ts";
import { startNameServer, type NameServer } from "./testing/name-server.ts";
import { serveReplica } from "./testing/serve-replica.ts";

const CALLS = 40;
const A = "127.0.0.1";
const B = "127.0.0.2";
const { minter, tokenKeys } = await createTestIdentity();
const headers = { authorization: `Bearer ${minter.mint(testPrincipal, "sandbox")}` };

let names: NameServer;
let servers: RpcServer[];

beforeEach(async () => {
  // grpc-js reads it when it is loaded, which the first transport does: it then asks a DNS server, and not the machine's resolver.
  vi.stubEnv("GRPC_NODE_USE_ALTERNATIVE_RESOLVER", "true");
  names = await startNameServer([A, B]);
  servers = [];
});

afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()));
  await names.close();
  vi.unstubAllEnvs();
});

/** Two replicas behind one name have one port. */
async function serveBoth(ageMilliseconds: number): Promise<() => Promise<string>> {
  const shared = { tokenKeys, cancelMilliseconds: 5, ageMilliseconds };
  const a = await serveReplica({ ...shared, name: "a", host: A, port: 0 });
  const b = await serveReplica({ ...shared, name: "b", host: B, port: a.port });
  servers.push(a, b);
  const transport = createMeshTransport(`dns://127.0.0.1:${names.port}/sandbox.test:${a.port}`, [retryInterceptor]);
  const client = createClient(SessionService, transport);
  return async () => (await client.listSessions({}, { headers })).sessions[0]!.title;
}

describe("calls to a name with an address for each of two replicas", () => {
  it("are spread over both", async () => {
    const call = await serveBoth(60_000);
    await expect.poll(async () => new Set([await call(), await call()]).size).toBe(2);
    const answers: string[] = [];
    for (let index = 0; index < CALLS; index++) answers.push(await call());
    expect(answers.filter((name) => name === "a")).toHaveLength(CALLS / 2);
  });

  it("reach a replica whose address comes later, when connections grow old, and none of them fails", { timeout: 60_000 }, async () => {
    names.addresses = [A];
    const calling = keepCalling(await serveBoth(1_000));
    await expect.poll(() => calling.answers.get("a") ?? 0).toBeGreaterThan(CALLS);
    expect(calling.answers.get("b")).toBeUndefined();
    names.addresses = [A, B];
    await expect.poll(() => calling.answers.get("b") ?? 0, { timeout: 30_000 }).toBeGreaterThan(CALLS);
    names.addresses = [B];
    const before = (): number => calling.answers.get("a")!;
    await expect
      .poll(
        async () => {
          const [one, other] = [before(), calling.answers.get("b")!];
          await expect.poll(() => calling.answers.get("b")!).toBeGreaterThan(other + CALLS);
          return before() - one;
        },
        { timeout: 30_000 },
      )
      .toBe(0);
    await calling.stop();
    expect(calling.failures).toEqual([]);
  });
});
