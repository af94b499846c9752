import { fileURLToPath } from "node:url";
import { createClient, type Client } from "@connectrpc/connect";
import type { Principal } from "@hlvm/identity/principal";
import { ErrorAdviceSchema } from "@hlvm/proto/hlvm/error/v1/error_pb";
import { FactScope, MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { PersonalDataService, RetentionScope } from "@hlvm/proto/hlvm/memory/v1/personal_data_pb";
import { MemoryStatsService } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { outgoing } from "@hlvm/rpc/call-context";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { createTestIdentity, type TestIdentity } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Circuit } from "../adapters/circuit.ts";
import { MeilisearchConnection } from "../adapters/meilisearch-connection.ts";
import { MeilisearchFactIndex } from "../adapters/meilisearch-fact-index.ts";
import { PostgresFactStore } from "../adapters/postgres-fact-store.ts";
import { PostgresPersonalData } from "../adapters/postgres-personal-data.ts";
import { PostgresProjects } from "../adapters/postgres-projects.ts";
import { PostgresRetention } from "../adapters/postgres-retention.ts";
import { PostgresTranscripts } from "../adapters/postgres-transcripts.ts";
import { PostgresUsageLog } from "../adapters/postgres-usage-log.ts";
import { PostgresWiki } from "../adapters/postgres-wiki.ts";
import { personalDataMethods } from "./personal-data.ts";
import { memoryRoutes } from "./routes.ts";

let test: TestDatabase;
let server: RpcServer;
let identity: TestIdentity;
let memory: Client<typeof MemoryService>;
let personal: Client<typeof PersonalDataService>;
let stats: Client<typeof MemoryStatsService>;

beforeAll(async () => {
  test = await createTestDatabase(fileURLToPath(new URL("../../migrations", import.meta.url)));
  identity = await createTestIdentity();
  const { database } = test;
  const nowhere = new MeilisearchConnection({ url: "http://127.0.0.1:1", key: "" });
  const index = new MeilisearchFactIndex(nowhere, new Circuit(), testLog, () => undefined, 10_000);
  const store = new PostgresFactStore(database, () => undefined);
  const ports = {
    store,
    index,
    gate: identity.gate(),
    projects: new PostgresProjects(database),
    usage: new PostgresUsageLog(database, testLog),
    transcripts: new PostgresTranscripts(database),
    wiki: new PostgresWiki(database),
  };
  const kept = { personalData: new PostgresPersonalData(database, () => undefined), retention: new PostgresRetention(database) };
  server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    routes: (router) => {
      memoryRoutes(ports)(router);
      router.service(PersonalDataService, personalDataMethods(kept));
    },
    services: [],
    authenticate: identity.verifier("memory"),
  });
  const transport = createMeshTransport(`http://127.0.0.1:${server.port}`);
  memory = createClient(MemoryService, transport);
  personal = createClient(PersonalDataService, transport);
  stats = createClient(MemoryStatsService, transport);
});
afterAll(async () => {
  await server.close();
  await test.drop();
});

let count = 0;
const newcomer = (organization = `acme-${count++}`): Principal => ({
  organization,
  id: `user:p${count++}`,
  roles: ["developer", "approver"],
});
const callOf = (token: string) => outgoing({ token, signal: AbortSignal.timeout(20_000), remainingMilliseconds: () => 20_000 });
const by = (principal: Principal) => callOf(identity.minter.mint(principal, "memory"));
const write = async (principal: Principal, text: string, scope: FactScope = FactScope.PERSONAL) =>
  (await memory.writeFact({ text, scope, subject: "", predicate: "" }, by(principal))).fact!;
const replaced = (principal: Principal, factId: string, text: string) =>
  memory.editFact({ factId, change: { case: "replacementText", value: text } }, by(principal));

async function exported(principal: Principal, of = ""): Promise<{ kind: string; record: Record<string, unknown> }[]> {
  const all: { kind: string; record: Record<string, unknown> }[] = [];
  for (let cursor = ""; ;) {
    const { records, nextCursor } = await personal.exportPersonalData({ principal: of, cursor }, by(principal));
    all.push(...records.map(({ kind, json }) => ({ kind, record: JSON.parse(json) as Record<string, unknown> })));
    if ((cursor = nextCursor) === "") return all;
  }
}
const textsOf = async (principal: Principal): Promise<unknown[]> =>
  (await exported(principal)).filter(({ kind }) => kind === "fact").map(({ record }) => record.text);
const reasonOf = async (asked: Promise<unknown>): Promise<string> => {
  const thrown: unknown = await asked.then(
    () => undefined,
    (error: unknown) => error,
  );
  const [advice] = (thrown as { findDetails: (schema: typeof ErrorAdviceSchema) => { reason: string }[] }).findDetails(ErrorAdviceSchema);
  return advice?.reason ?? String(thrown);
};
const rows = async (sql: string, values: readonly unknown[]): Promise<number> =>
  (await test.database.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${sql}`, values))[0]!.count;

describe("what memory holds of a person", () => {
  it("is given to them whole, page by page, and nothing of others", async () => {
    const ada = newcomer();
    const bob = { ...ada, id: "user:bob" };
    const texts = Array.from({ length: 620 }, (_, number) => `Fact ${number} is of Ada's and about number ${number * 7919}.`);
    await memory.writeFacts({ facts: texts.slice(0, 310).map((text) => ({ text, scope: FactScope.PERSONAL })) }, by(ada));
    await memory.writeFacts({ facts: texts.slice(310).map((text) => ({ text, scope: FactScope.PERSONAL })) }, by(ada));
    await write(bob, "Bob keeps bees in Kent.");
    await write({ ...ada, organization: "other" }, "Ada of another organization sails.");
    await memory.searchFacts({ query: "number" }, by(ada));
    const found = await textsOf(ada);
    expect([found.length, new Set(found)]).toEqual([texts.length, new Set(texts)]);
    expect(new Set((await exported(ada)).map(({ kind }) => kind))).toEqual(new Set(["fact", "fact_change", "recall", "mention"]));
    expect(await textsOf(bob)).toEqual(["Bob keeps bees in Kent."]);
  });

  it("is gone when it is erased, with its history and its words; what others share stays without the name", async () => {
    const ada = newcomer();
    const bob = { ...ada, id: "user:bob" };
    const first = await write(ada, "Ada drinks oolong tea at dawn.");
    await replaced(ada, first.factId, "Ada drinks sencha tea at dawn.");
    const shared = await write(ada, "The staging cluster is rebuilt each Monday.", FactScope.TEAM);
    await write(bob, "Bob drinks coffee.");
    await memory.searchFacts({ query: "tea" }, by(ada));
    const [recall] = (await stats.listRecalls({}, by(ada))).recalls;
    const factId = recall!.shownFactIds[0]!;
    await stats.markRecall({ recallId: recall!.recallId, factId, wrong: true }, by(ada));
    expect(await exported(ada)).toContainEqual({
      kind: "recall_mark",
      record: expect.objectContaining({ query: "tea", fact_id: factId }) as object,
    });
    const { counts } = await personal.erasePersonalData({}, by(ada));
    expect(Object.fromEntries(counts.map(({ kind, count: found }) => [kind, found]))).toMatchObject({
      personal_facts: 2,
      shared_facts: 1,
      recalls: 1,
      recall_marks: 1,
    });

    expect(await exported(ada)).toEqual([]);
    const whole = await test.database.query<{ row: string }>(
      `SELECT fact::text AS row FROM fact WHERE organization = $1 UNION ALL SELECT fact_change::text FROM fact_change WHERE organization = $1
       UNION ALL SELECT search_item::text FROM search_item WHERE organization = $1 UNION ALL SELECT recall_log::text FROM recall_log WHERE organization = $1`,
      [ada.organization],
    );
    const all = whole.map(({ row }) => row).join("\n");
    expect(all).not.toMatch(new RegExp(`${ada.id}\\b|oolong|sencha`));
    expect(all).toMatch(/staging cluster[^]*Bob drinks|Bob drinks[^]*staging cluster/);
    expect((await memory.searchFacts({ query: "staging cluster" }, by(bob))).facts.map(({ fact }) => fact?.factId)).toEqual([
      shared.factId,
    ]);
    expect(await rows("outbox WHERE fact_id = $1", [first.factId])).toBeGreaterThan(0);
    await write(ada, "Ada is back.");
    expect(await textsOf(ada)).toEqual(["Ada is back."]);
  });

  it("is given to and erased by administrators of the organization alone, besides oneself, and never by a run", async () => {
    const ada = newcomer();
    const admin: Principal = { ...ada, id: "user:root", roles: ["admin"] };
    const stranger: Principal = { ...newcomer(), roles: ["admin"] };
    await write(ada, "Ada keeps a diary in the attic.");
    const bob = { ...ada, id: "user:bob" };
    expect(await reasonOf(personal.exportPersonalData({ principal: ada.id }, by(bob)))).toBe("role_missing");
    expect(await reasonOf(personal.erasePersonalData({ principal: ada.id }, by(bob)))).toBe("role_missing");
    const run = callOf(identity.mintForRun({ principal: ada }, "memory"));
    expect(await reasonOf(personal.exportPersonalData({}, run))).toBe("person_needed");
    expect(await reasonOf(personal.erasePersonalData({}, run))).toBe("person_needed");
    expect(await exported(stranger, ada.id)).toEqual([]);
    await personal.erasePersonalData({ principal: ada.id }, by(stranger));
    expect((await exported(admin, ada.id)).filter(({ kind }) => kind === "fact")).toHaveLength(1);
    await personal.erasePersonalData({ principal: ada.id }, by(admin));
    expect(await exported(ada)).toEqual([]);
    for (const cursor of ["nothing", "fact", "secret:1", "fact:"])
      expect(await reasonOf(personal.exportPersonalData({ cursor }, by(ada)))).toBe("cursor_malformed");
  });
});

describe("retention", () => {
  it("lets what has ended go after its days, by scope and organization, with what was done to it; what holds stays", async () => {
    const [ada, other] = [newcomer(), newcomer()];
    const admin: Principal = { ...ada, id: "user:root", roles: ["admin"] };
    const ids: string[] = [];
    for (const person of [ada, other])
      for (const scope of [FactScope.PERSONAL, FactScope.TEAM]) {
        const { factId } = await write(person, `The build takes 5 minutes on ${person.id}.`, scope);
        const { fact } = await replaced(person, factId, `The build takes 9 minutes on ${person.id}.`);
        ids.push(factId, fact!.factId);
      }
    await test.database.query("UPDATE fact SET valid_from = valid_from - interval '40 days', valid_to = valid_to - interval '31 days'");
    expect(await reasonOf(personal.setRetention({ scope: RetentionScope.PERSONAL, days: 30 }, by(ada)))).toBe("role_missing");
    await personal.setRetention({ scope: RetentionScope.PERSONAL, days: 30 }, by(admin));
    const { retention } = await personal.setRetention({ scope: RetentionScope.TEAM, days: 32 }, by(admin));
    expect(retention.map(({ scope, days, changedBy }) => [scope, days, changedBy])).toEqual([
      [RetentionScope.PERSONAL, 30, "user:root"],
      [RetentionScope.TEAM, 32, "user:root"],
    ]);
    await new PostgresRetention(test.database).forgetExpired();
    const left = await test.database.query<{ fact_id: string }>("SELECT fact_id FROM fact WHERE fact_id = ANY($1::uuid[])", [ids]);
    expect(new Set(left.map(({ fact_id: id }) => id))).toEqual(new Set(ids.slice(1)));
    expect(await rows("fact_change_part WHERE fact_id = $1", [ids[0]])).toBe(0);
    expect((await memory.getFact({ factId: ids[1]! }, by(ada))).fact?.text).toContain("9 minutes");

    await personal.setRetention({ scope: RetentionScope.TEAM, days: 0 }, by(admin));
    expect((await personal.listRetention({}, by(ada))).retention.map(({ scope }) => scope)).toEqual([RetentionScope.PERSONAL]);
    expect((await personal.listRetention({}, by(other))).retention).toEqual([]);
  });
});
