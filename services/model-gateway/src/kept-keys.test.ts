import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient, type Client } from "@connectrpc/connect";
import { ErrorAdviceSchema } from "@hlvm/proto/hlvm/error/v1/error_pb";
import type { Principal } from "@hlvm/identity/principal";
import { ModelService, Role } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { ProviderKeyService } from "@hlvm/proto/hlvm/model/v1/provider_key_pb";
import { outgoing } from "@hlvm/rpc/call-context";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { createTestIdentity, testPrincipal, type TestIdentity } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ReplayServer } from "./adapters/suite/replay-server.ts";
import { readGatewayConfig } from "./config.ts";
import type { ModelCaller, Models } from "./domain/keys/callers-models.ts";
import { ModelCatalogue, type CataloguedProvider } from "./domain/model-catalogue.ts";
import { PermittedModels } from "./domain/permitted-models.ts";
import { PriceTable } from "./domain/price-table.ts";
import { ResumeSeal } from "./domain/resume/resume-seal.ts";
import { Router } from "./domain/routing/router.ts";
import { openKeptKeys, type KeptKeys } from "./kept-keys.ts";
import { providers } from "./providers.ts";
import { providerKeyMethods } from "./rpc/provider-keys.ts";
import { ResumableAnswers } from "./rpc/resumable-answers.ts";
import { routes } from "./rpc/routes.ts";

const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));
const LIMITS = { seconds: 1, bytes: 1_000, allBytes: 1_000, answers: 1 };
const ANSWER = 'data: {"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const OF_GATEWAY = "sk-of-the-gateway-itself";
const provider = "openai-compatible";
const folder = mkdtempSync(join(tmpdir(), "hlvm-kept-keys-"));
const keyFile = join(folder, "keys");
const hosted = new ReplayServer();

let identity: TestIdentity;
let hostedUrl: string;
let test: TestDatabase;
let gateways: Gateway[];

interface Gateway {
  readonly keys: Client<typeof ProviderKeyService>;
  readonly models: Client<typeof ModelService>;
  readonly server: RpcServer;
  readonly kept: KeptKeys;
}

beforeAll(async () => {
  hostedUrl = await hosted.start();
});
beforeEach(async () => {
  identity = await createTestIdentity();
  writeFileSync(keyFile, `first ${randomBytes(32).toString("base64")}\n`);
  hosted.play((response) => void response.setHeader("content-type", "text/event-stream").end(ANSWER));
  test = await createTestDatabase(MIGRATIONS);
  gateways = [];
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(gateways.map(async ({ server, kept }) => [await server.close(), await kept.close()]));
  await test.drop();
});
afterAll(async () => {
  await hosted.stop();
  rmSync(folder, { recursive: true });
});

/** One process of several that share a database. */
async function startGateway(): Promise<Gateway> {
  const config = readGatewayConfig({
    HLVM_TOKEN_PUBLIC_KEYS: join(folder, "unused"),
    HLVM_DATABASE_URL: test.url,
    HLVM_KEY_ENCRYPTION_KEYS: keyFile,
    HLVM_OPENAI_COMPATIBLE_URL: `${hostedUrl}/v1`,
    HLVM_OPENAI_COMPATIBLE_API_KEY: OF_GATEWAY,
  });
  const prices = new PriceTable([]);
  const modelsOf = (available: readonly CataloguedProvider[]): Models => {
    const catalogue = new ModelCatalogue(available, "", [], new PermittedModels([]));
    return { catalogue, router: new Router({ catalogue, routes: new Map(), prices, defaultModel: "" }) };
  };
  const known = providers(config);
  const kept = await openKeptKeys(config, { known, own: modelsOf(known), modelsOf, log: testLog });
  const parts = { models: (caller: ModelCaller) => kept.models.of(caller), prices, log: testLog };
  const server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    routes: (connect) => {
      routes(parts, new ResumableAnswers(parts, { limits: LIMITS, seal: new ResumeSeal(""), replica: "" }))(connect);
      connect.service(ProviderKeyService, providerKeyMethods(kept.ports));
    },
    services: [ModelService.typeName, ProviderKeyService.typeName],
    authenticate: identity.verifier("model-gateway"),
  });
  const transport = createMeshTransport(`http://127.0.0.1:${server.port}`);
  const gateway = { keys: createClient(ProviderKeyService, transport), models: createClient(ModelService, transport), server, kept };
  gateways.push(gateway);
  return gateway;
}

interface Caller {
  readonly organization?: string;
  readonly roles?: Principal["roles"];
  readonly teams?: readonly string[];
}

function by({ organization = "acme", roles = ["admin"], teams }: Caller = {}) {
  const principal = { ...testPrincipal, organization, roles, ...(teams && { teams }) };
  return outgoing({
    token: teams === undefined ? identity.minter.mint(principal, "model-gateway") : identity.mintForRun({ principal }, "model-gateway"),
    signal: AbortSignal.timeout(30_000),
    remainingMilliseconds: () => 30_000,
  });
}

/** With which key the provider was asked for a caller, or why it was not. */
async function keyUsed({ models }: Gateway, caller: Caller): Promise<string> {
  hosted.requests.length = 0;
  const messages = [{ role: Role.USER, parts: [{ part: { case: "text" as const, value: "hello" } }] }];
  try {
    for await (const response of models.generate({ model: `${provider}/m`, messages }, by(caller))) void response;
  } catch (thrown) {
    return hosted.requests.length === 0 ? reasonOf(thrown) : "asked in spite of it";
  }
  return String(hosted.requests[0]?.headers.authorization).replace("Bearer ", "");
}

function reasonOf(thrown: unknown): string {
  const [advice] = (thrown as { findDetails: (schema: typeof ErrorAdviceSchema) => { reason: string }[] }).findDetails(ErrorAdviceSchema);
  return advice?.reason ?? String(thrown);
}

const add = async ({ keys }: Gateway, secret: string, given: { team?: string; name?: string } = {}, caller: Caller = {}) =>
  (await keys.addProviderKey({ provider, secret, ...given }, by(caller))).key!;
const refused = (asked: Promise<unknown>): Promise<string> => asked.then(() => "taken", reasonOf);

describe("keys of providers that the gateway keeps", () => {
  it("are used for their organization alone: a team's before its organization's, and the gateway's own for who gave none", async () => {
    const gateway = await startGateway();
    expect(await keyUsed(gateway, {})).toBe(OF_GATEWAY);
    await add(gateway, "sk-of-acme");
    await add(gateway, "sk-of-platform", { team: "platform" });
    await add(gateway, "sk-of-globex", {}, { organization: "globex" });
    expect(await keyUsed(gateway, { roles: [] })).toBe("sk-of-acme");
    expect(await keyUsed(gateway, { teams: ["platform"] })).toBe("sk-of-platform");
    expect(await keyUsed(gateway, { teams: ["web"] })).toBe("sk-of-acme");
    expect(await keyUsed(gateway, { organization: "globex", teams: ["platform"] })).toBe("sk-of-globex");
    expect(await keyUsed(gateway, { organization: "initech", teams: ["platform"] })).toBe(OF_GATEWAY);
  });

  it("change for the next call without a restart: rotated, removed; and other gateways know it within five seconds", async () => {
    const [one, two] = [await startGateway(), await startGateway()];
    const { keyId } = await add(one, "sk-first");
    expect([await keyUsed(one, {}), await keyUsed(two, {})]).toEqual(["sk-first", "sk-first"]);
    await one.keys.rotateProviderKey({ keyId, secret: "sk-second" }, by());
    expect(await keyUsed(one, {})).toBe("sk-second");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 5_001 });
    expect(await keyUsed(two, {})).toBe("sk-second");
    await two.keys.removeProviderKey({ keyId }, by());
    expect(await keyUsed(two, {})).toBe(OF_GATEWAY);
  });

  it("are never replaced by another's where they cannot be read: altered in the database, or moved into another row", async () => {
    const gateway = await startGateway();
    const acme = await add(gateway, "sk-of-acme");
    const globex = await add(gateway, "sk-of-globex", {}, { organization: "globex" });
    const swap = `UPDATE provider_key one SET sealed = other.sealed, wrapped_key = other.wrapped_key, wrapped_by = other.wrapped_by
      FROM provider_key other WHERE one.key_id = $1 AND other.key_id = $2`;
    await test.database.query(swap, [globex.keyId, acme.keyId]);
    gateway.kept.models.forget("globex");
    expect(await keyUsed(gateway, { organization: "globex" })).toBe("provider_not_set_up");
    await test.database.query("UPDATE provider_key SET organization = 'initech' WHERE key_id = $1", [acme.keyId]);
    expect(await keyUsed(gateway, { organization: "initech" })).toBe("provider_not_set_up");
    await gateway.keys.rotateProviderKey({ keyId: globex.keyId, secret: "sk-anew" }, by({ organization: "globex" }));
    expect(await keyUsed(gateway, { organization: "globex" })).toBe("sk-anew");
  });

  it("serve for five minutes while their database does not answer, and then no call is made by another key", async () => {
    const gateway = await startGateway();
    await add(gateway, "sk-of-acme");
    expect(await keyUsed(gateway, {})).toBe("sk-of-acme");
    await test.database.query("ALTER TABLE provider_key RENAME TO away");
    const now = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: now + 200_000 });
    expect(await keyUsed(gateway, {})).toBe("sk-of-acme");
    vi.setSystemTime(now + 400_000);
    const later = [keyUsed(gateway, {}), keyUsed(gateway, { organization: "globex" })];
    expect(await Promise.all(later)).toEqual(["keys_unavailable", "keys_unavailable"]);
    await test.database.query("ALTER TABLE away RENAME TO provider_key");
    expect(await keyUsed(gateway, {})).toBe("sk-of-acme");
  });

  it("are waited for where the gateway was started again while their database was", async () => {
    await add(await startGateway(), "sk-of-acme");
    const restarted = await startGateway();
    await test.database.query("ALTER TABLE provider_key RENAME TO away");
    const lookedUp = vi.spyOn(restarted.kept.models, "of");
    const used = keyUsed(restarted, {});
    await expect.poll(() => lookedUp.mock.calls.length).toBeGreaterThan(2);
    await test.database.query("ALTER TABLE away RENAME TO provider_key");
    expect(await used).toBe("sk-of-acme");
  });

  it("are administrators' alone, in person, in their own organization", async () => {
    const gateway = await startGateway();
    const { keyId } = await add(gateway, "sk-of-acme-0123456789");
    for (const caller of [{ roles: ["developer", "approver"] }, { teams: ["platform"] }] satisfies Caller[]) {
      expect(await refused(gateway.keys.listProviderKeys({}, by(caller)))).toBe("role_missing");
      expect(await refused(add(gateway, "sk-mine", { name: "mine" }, caller))).toBe("role_missing");
      expect(await refused(gateway.keys.rotateProviderKey({ keyId, secret: "sk-mine" }, by(caller)))).toBe("role_missing");
      expect(await refused(gateway.keys.removeProviderKey({ keyId }, by(caller)))).toBe("role_missing");
    }
    const stranger = by({ organization: "globex" });
    expect((await gateway.keys.listProviderKeys({}, stranger)).keys).toEqual([]);
    expect(await refused(gateway.keys.rotateProviderKey({ keyId, secret: "sk-mine" }, stranger))).toBe("key_not_found");
    expect(await refused(gateway.keys.removeProviderKey({ keyId }, stranger))).toBe("key_not_found");
    expect(await keyUsed(gateway, {})).toBe("sk-of-acme-0123456789");
  });

  it("are told by their last characters alone, and what no header takes is refused without repeating it", async () => {
    const gateway = await startGateway();
    await add(gateway, "sk-of-acme-0123456789", { name: "main" });
    await add(gateway, "short", { team: "web" });
    const { keys } = await gateway.keys.listProviderKeys({}, by());
    expect(keys.map(({ team, name, ending, changedBy }) => [team, name, ending, changedBy])).toEqual([
      ["", "main", "6789", testPrincipal.id],
      ["web", "default", "", testPrincipal.id],
    ]);
    const rows = await test.database.query<{ row: string }>("SELECT provider_key::text AS row FROM provider_key");
    expect(rows.map(({ row }) => row).join()).not.toMatch(/sk-of|short|736b2d6f66/);
    for (const secret of ["sk-two\nlines-xyz", "sk-with blank-xyz", "sk-ünïcode-xyz"]) {
      const thrown = await add(gateway, secret, { name: "n" }).catch((error: unknown) => error);
      expect(reasonOf(thrown)).toBe("key_malformed");
      expect(JSON.stringify(thrown) + String(thrown)).not.toContain("xyz");
    }
    expect(await refused(add(gateway, "sk-again", { name: "main" }))).toBe("key_exists");
    expect(await refused(gateway.keys.addProviderKey({ provider: "llama", secret: "sk-x" }, by()))).toBe("keys_not_taken");
    expect(await refused(gateway.keys.removeProviderKey({ keyId: randomUUID() }, by()))).toBe("key_not_found");
  });
});
