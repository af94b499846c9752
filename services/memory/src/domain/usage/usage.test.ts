import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { Code, createClient, type Client } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "@hlvm/identity/principal";
import { FactOrigin, FactScope, MemoryService } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { FactFaultKind, MemoryStatsService, RecallKind } from "@hlvm/proto/hlvm/memory/v1/stats_pb";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { createTestIdentity } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { Circuit } from "../../adapters/circuit.ts";
import { MeilisearchConnection } from "../../adapters/meilisearch-connection.ts";
import { MeilisearchFactIndex } from "../../adapters/meilisearch-fact-index.ts";
import { PostgresFactStore } from "../../adapters/postgres-fact-store.ts";
import { PostgresProjects } from "../../adapters/postgres-projects.ts";
import { PostgresTranscripts } from "../../adapters/postgres-transcripts.ts";
import { PostgresUsageLog } from "../../adapters/postgres-usage-log.ts";
import { PostgresWiki } from "../../adapters/postgres-wiki.ts";
import { memoryRoutes } from "../../rpc/routes.ts";

let test: TestDatabase;
let server: RpcServer;
let memory: Client<typeof MemoryService>;
let stats: Client<typeof MemoryStatsService>;
let identity: Awaited<ReturnType<typeof createTestIdentity>>;

beforeAll(async () => {
  test = await createTestDatabase(fileURLToPath(new URL("../../../migrations", import.meta.url)));
  identity = await createTestIdentity();
  const index = new MeilisearchFactIndex(
    new MeilisearchConnection({ url: "http://127.0.0.1:1", key: "" }),
    new Circuit(),
    testLog,
    () => undefined,
    10_000,
  );
  const store = new PostgresFactStore(test.database, () => undefined);
  server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    routes: memoryRoutes({
      store,
      index,
      gate: identity.gate(),
      projects: new PostgresProjects(test.database),
      usage: new PostgresUsageLog(test.database, testLog),
      transcripts: new PostgresTranscripts(test.database),
      wiki: new PostgresWiki(test.database),
    }),
    services: [],
    authenticate: identity.verifier("memory"),
  });
  const transport = createMeshTransport(`http://127.0.0.1:${server.port}`);
  memory = createClient(MemoryService, transport);
  stats = createClient(MemoryStatsService, transport);
});
afterAll(async () => {
  await server.close();
  await test.drop();
});

const newcomer = (organization: string = randomUUID(), id = "user:ada"): Principal => ({ organization, id, roles: ["admin"] });
const as = (principal: Principal) => ({ headers: { authorization: `Bearer ${identity.minter.mint(principal, "memory")}` } });

/** A run that asks memory and comes to an answer. */
async function run(options: ReturnType<typeof as>, question: string, answer: string, sessionId: string = randomUUID()) {
  const runId = randomUUID();
  await memory.recall({ query: question, sessionId, runId }, options);
  return stats.recordAnswer({ sessionId, runId, question, answer }, options);
}

describe("what answers make of memory", () => {
  it("is counted: shown and used, shown in vain, found out again", async () => {
    const options = as(newcomer());
    const { fact: branch } = await memory.writeFact(
      { text: "Releases of Turbine are cut from branch stable-9", scope: FactScope.PERSONAL },
      options,
    );
    const { fact: lunch } = await memory.writeFact(
      { text: "Compaction of Kafka topics runs at 04:30 on mondays", scope: FactScope.PERSONAL },
      options,
    );
    const question = "From which branch do we cut releases of Turbine?";
    expect(await run(options, question, "They are cut from stable-9.")).toMatchObject({
      usedFactIds: [branch!.factId],
      rederivedFactIds: [],
    });
    expect(await run(options, question, "I could not find out.")).toMatchObject({ usedFactIds: [], rederivedFactIds: [] });
    const again = await run(options, "When is it quiet?", "On Mondays at 04:30 compaction of the Kafka topics runs.");
    expect(again).toMatchObject({ usedFactIds: [], rederivedFactIds: [lunch!.factId] });

    expect(await stats.getMemoryStats({}, options)).toMatchObject({
      recalls: [{ kind: RecallKind.RUN, count: 3, hits: 2, factsShown: 2 }],
      answers: 3,
      answersWithFacts: 2,
      answersWithUse: 1,
      answersWithRederivation: 1,
      factsByOrigin: [{ origin: FactOrigin.USER_STATED, count: 2 }],
      factsNeverShown: 1,
      mostUsed: [{ fact: { factId: branch!.factId }, shown: 2, used: 1 }],
    });
  });

  it("counts a run once, however often it is told", async () => {
    const options = as(newcomer());
    await memory.writeFact({ text: "The linter of Turbine is oxlint", scope: FactScope.PERSONAL }, options);
    const given = { sessionId: randomUUID(), runId: randomUUID(), question: "Which linter?" };
    await memory.recall({ query: "the linter of Turbine", ...given }, options);
    const first = await stats.recordAnswer({ ...given, answer: "Turbine is checked by oxlint." }, options);
    expect(first.usedFactIds).toHaveLength(1);
    expect(await stats.recordAnswer({ ...given, answer: "None." }, options)).toEqual(first);
    expect((await stats.getMemoryStats({}, options)).answers).toBe(1);
  });

  it("does not count as found out again what the session itself wrote or was shown before", async () => {
    const options = as(newcomer());
    await memory.writeFact({ text: "Turbine listens on port 7443", scope: FactScope.PERSONAL }, options);
    const sessionId = randomUUID();
    await run(options, "On which port does Turbine listen?", "I look it up.", sessionId);
    expect((await run(options, "And now?", "Turbine listens on port 7443.", sessionId)).rederivedFactIds).toEqual([]);
  });

  it("is the business of its person alone", async () => {
    const ada = newcomer();
    await memory.writeFact({ text: "Turbine is deployed with Argo", scope: FactScope.TEAM }, as(ada));
    const sessionId = randomUUID();
    await run(as(ada), "How is Turbine deployed?", "Turbine is deployed with Argo.", sessionId);
    const eve = as(newcomer(ada.organization, "user:eve"));
    expect(await stats.getMemoryStats({}, eve)).toMatchObject({ recalls: [], answers: 0, mostUsed: [], factsNeverShown: 1 });
    expect((await stats.listRecalls({}, eve)).recalls).toEqual([]);
    const guess = await stats.recordAnswer({ sessionId, runId: randomUUID(), question: "", answer: "Turbine is deployed with Argo." }, eve);
    expect(guess.usedFactIds).toEqual([]);
  });
});

describe("the log of what was asked", () => {
  it("has the latest first, tells misses, and holds no secret", async () => {
    const options = as(newcomer());
    await memory.writeFact({ text: "Turbine has a dashboard", scope: FactScope.PERSONAL }, options);
    await memory.searchFacts({ query: "dashboard" }, options);
    await memory.searchFacts({ query: `login with ghp_${"a1B2".repeat(9)} to nothing` }, options);
    const { recalls } = await stats.listRecalls({}, options);
    expect(recalls.map(({ kind, shownFactIds }) => [kind, shownFactIds.length])).toEqual([
      [RecallKind.SEARCH, 0],
      [RecallKind.SEARCH, 1],
    ]);
    expect(recalls[0]!.query).toMatch(/^login with .+ to nothing$/);
    expect(recalls[0]!.query).not.toContain("a1B2");
    expect((await stats.listRecalls({ misses: true }, options)).recalls).toHaveLength(1);
    expect((await stats.listRecalls({ limit: 1, before: recalls[0]!.at }, options)).recalls).toEqual([recalls[1]]);
  });

  it("is narrowed by kind and words, and goes on page by page, each recall once", async () => {
    const options = as(newcomer());
    for (const query of ["Port of Turbine", "Branch of 100% Turbine", "Port of Anvil"]) await memory.searchFacts({ query }, options);
    await memory.recall({ query: "Turbine's port" }, options);
    const asked = async (narrowed: object) => (await stats.listRecalls(narrowed, options)).recalls.map(({ query }) => query);
    expect(await asked({ text: "port TURBINE" })).toEqual(["Turbine's port", "Port of Turbine"]);
    expect(await asked({ text: "100%" })).toEqual(["Branch of 100% Turbine"]);
    expect(await asked({ kind: RecallKind.RUN })).toEqual(["Turbine's port"]);
    const pages: string[] = [];
    for (let beforeId = 0n; ;) {
      const { recalls } = await stats.listRecalls({ limit: 1, beforeId }, options);
      if (recalls.length === 0) break;
      pages.push(recalls[0]!.query);
      beforeId = recalls[0]!.recallId;
    }
    expect(pages).toEqual(await asked({}));
    expect(await asked({ beforeId: 1n << 62n })).toEqual([]);
  });

  it("refuses what no run can say", async () => {
    const wrong = stats.recordAnswer({ sessionId: "x", runId: "r", question: "", answer: "" }, as(newcomer()));
    await expect(wrong).rejects.toMatchObject({ code: Code.InvalidArgument });
  });
});

describe("a recall", () => {
  const port = { text: "Turbine listens on port 7443", scope: FactScope.PERSONAL };
  const shown = async (options: ReturnType<typeof as>) => {
    const { fact } = await memory.writeFact(port, options);
    await run(options, "On which port does Turbine listen?", "Turbine listens on port 7443.");
    const { recalls } = await stats.listRecalls({}, options);
    return { factId: fact!.factId, recallId: recalls[0]!.recallId };
  };

  it("tells what it showed and what of that was used, replaced facts too", async () => {
    const options = as(newcomer());
    const { factId, recallId } = await shown(options);
    await memory.editFact({ factId, change: { case: "replacementText", value: "Turbine listens on port 8443" } }, options);
    const { recall, facts } = await stats.getRecall({ recallId }, options);
    expect(recall).toMatchObject({
      kind: RecallKind.RUN,
      hasAnswer: true,
      shownFactIds: [factId],
      usedFactIds: [factId],
      wrongFactIds: [],
    });
    expect(facts.map(({ text }) => text)).toEqual([port.text]);
    await memory.searchFacts({ query: "Turbine" }, options);
    const { recalls } = await stats.listRecalls({ limit: 1 }, options);
    expect(recalls[0]).toMatchObject({ hasAnswer: false, usedFactIds: [] });
  });

  it("has a project's facts while its person is a member of that", async () => {
    const ada = newcomer();
    const options = as(ada);
    const project = "/work/turbine";
    await memory.writeFact({ ...port, scope: FactScope.PROJECT, project }, options);
    await memory.recall({ query: "On which port does Turbine listen?", project }, options);
    const [recall] = (await stats.listRecalls({}, options)).recalls;
    const textsOf = async () => (await stats.getRecall({ recallId: recall!.recallId }, options)).facts.map(({ text }) => text);
    expect(await textsOf()).toEqual([port.text]);
    await memory.removeProjectMember({ projectId: recall!.project, principal: ada.id }, options);
    expect(await textsOf()).toEqual([]);
  });

  it("is marked and unmarked by its person, which is counted once", async () => {
    const options = as(newcomer());
    const { factId, recallId } = await shown(options);
    await stats.markRecall({ recallId, factId, wrong: true }, options);
    const { recall } = await stats.markRecall({ recallId, factId, wrong: true }, options);
    expect(recall).toMatchObject({ recallId, wrongFactIds: [factId] });
    expect((await stats.getMemoryStats({}, options)).recalls).toMatchObject([{ factsShown: 1, factsMarkedWrong: 1 }]);
    expect((await stats.markRecall({ recallId, factId }, options)).recall).toMatchObject({ wrongFactIds: [] });
    expect((await stats.getMemoryStats({}, options)).recalls).toMatchObject([{ factsShown: 1, factsMarkedWrong: 0 }]);
  });

  it("is nobody else's to see or to mark, and takes no mark of a fact that it did not show, nor of a run", async () => {
    const ada = newcomer();
    const { factId, recallId } = await shown(as(ada));
    const eve = as(newcomer(ada.organization, "user:eve"));
    await expect(stats.getRecall({ recallId }, eve)).rejects.toMatchObject({ code: Code.NotFound });
    await expect(stats.markRecall({ recallId, factId, wrong: true }, eve)).rejects.toMatchObject({ code: Code.NotFound });
    const other = stats.markRecall({ recallId, factId: randomUUID(), wrong: true }, as(ada));
    await expect(other).rejects.toMatchObject({ code: Code.InvalidArgument });
    const ofRun = { headers: { authorization: `Bearer ${identity.mintForRun({ principal: ada }, "memory")}` } };
    await expect(stats.markRecall({ recallId, factId, wrong: true }, ofRun)).rejects.toMatchObject({ code: Code.PermissionDenied });
    for (const wrongId of [0n, (1n << 64n) - 1n])
      await expect(stats.getRecall({ recallId: wrongId }, as(ada))).rejects.toMatchObject({ code: Code.InvalidArgument });
    expect((await stats.getRecall({ recallId }, as(ada))).recall?.wrongFactIds).toEqual([]);
  });
});

describe("the audit of facts", () => {
  it("names duplicates, contradictions between scopes, and pins that no run is shown", async () => {
    const options = as(newcomer());
    const write = async (text: string, more: object = {}) =>
      (await memory.writeFact({ text, scope: FactScope.PERSONAL, ...more }, options)).fact!.factId;
    const slot = { subject: "Turbine", predicate: "port" };
    const same = [await write("We deploy on Fridays"), await write("we deploy on fridays.", { scope: FactScope.TEAM })];
    const other = [await write("Turbine's port is 7443", slot), await write("Turbine's port is 8443", { ...slot, scope: FactScope.TEAM })];
    const pins = [];
    for (let n = 0; n < 11; n++) pins.push(await write(`Pinned thing ${n}`, { pinned: true }));
    const { faults, lookedAt } = await stats.auditFacts({}, options);
    expect(lookedAt).toBe(15);
    expect(faults.map(({ kind, factIds }) => [kind, [...factIds].sort()])).toEqual([
      [FactFaultKind.DUPLICATE, same.sort()],
      [FactFaultKind.CONTRADICTION, other.sort()],
      [FactFaultKind.PINNED_UNSEEN, [pins[0]]],
    ]);
  });
});
