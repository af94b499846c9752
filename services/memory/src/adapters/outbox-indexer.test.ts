import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { MeilisearchServer } from "@hlvm/testing/meilisearch-server";
import { testLog } from "@hlvm/testing/test-log";
import { audiencesOf } from "../domain/audience.ts";
import { recall } from "../domain/recall.ts";
import { searchFacts, type FactSearch } from "../domain/search-facts.ts";
import type { Viewer } from "../domain/viewer.ts";
import { writeFact, type FactDraft } from "../domain/write-fact.ts";
import { draftOf } from "../testing/draft-of.ts";
import { newcomer } from "../testing/newcomer.ts";
import { standInIndex } from "../testing/stand-in-index.ts";
import { Circuit } from "./circuit.ts";
import { FACT_INDEX } from "./fact-document.ts";
import { MeilisearchConnection } from "./meilisearch-connection.ts";
import { MeilisearchFactIndex } from "./meilisearch-fact-index.ts";
import { MeilisearchFactWriter } from "./meilisearch-fact-writer.ts";
import { OutboxIndexer } from "./outbox-indexer.ts";
import { PostgresFactStore } from "./postgres-fact-store.ts";

const signal = new AbortController().signal;
let test: TestDatabase;
let meilisearch: MeilisearchServer;
let connection: MeilisearchConnection;
let store: PostgresFactStore;
let index: MeilisearchFactIndex;
let indexer: OutboxIndexer;
let ada: Viewer;

beforeAll(async () => {
  test = await createTestDatabase(fileURLToPath(new URL("../../migrations", import.meta.url)));
  meilisearch = await MeilisearchServer.start();
  connection = new MeilisearchConnection(meilisearch);
});
afterAll(async () => {
  await meilisearch.destroy();
  await test.drop();
});
beforeEach(() => {
  const circuit = new Circuit();
  indexer = new OutboxIndexer(test.database, new MeilisearchFactWriter(connection), circuit, testLog);
  store = new PostgresFactStore(test.database, () => indexer.wake());
  index = new MeilisearchFactIndex(connection, circuit, testLog, () => indexer.wake(), 0);
  ada = newcomer();
});
afterEach(() => indexer.close());

const write = (viewer: Viewer, text: string, draft: Partial<FactDraft> = {}) =>
  store.inScope(viewer, (facts) => writeFact(facts, viewer, draftOf(text, draft)));
const search = (viewer: Viewer, query: string): Promise<FactSearch> => searchFacts({ store, index }, viewer, { query, limit: 100 }, signal);
const textsOf = (found: FactSearch): string[] => found.facts.map(({ fact }) => fact.text);
const everythingIsIndexed = async (): Promise<void> => {
  await expect.poll(() => test.database.query("SELECT outbox_id FROM outbox"), { timeout: 15_000, interval: 20 }).toEqual([]);
};
const indexedIds = async (viewer: Viewer, term: string): Promise<readonly string[]> => {
  return (await index.candidates(audiencesOf(viewer), { terms: [term], forms: [term] }, 50, signal)).ids;
};

describe("the index", () => {
  it("is searched, within the viewer's scope alone", async () => {
    indexer.start();
    await write(ada, "The build takes nine minutes on the old runner");
    await write(ada, "Lunch is at noon");
    await write({ ...ada, organization: randomUUID() }, "The build of others takes an hour");
    await write({ ...ada, project: "/src/other" }, "The build there takes a day");
    await everythingIsIndexed();
    expect(await indexedIds(ada, "build")).toHaveLength(1);
    const found = await search(ada, "why is the build so slow?");
    expect(found).toMatchObject({ source: "index", notice: "" });
    expect(textsOf(found)).toEqual(["The build takes nine minutes on the old runner"]);
  });

  it("puts first what holds the rarer words, and what a person said", async () => {
    indexer.start();
    for (let n = 0; n < 20; n++) await write(ada, `Service ${n} writes logs`);
    await write(ada, "Service logs of the scheduler are kept for a year");
    await everythingIsIndexed();
    expect(textsOf(await search(ada, "Where are logs of the scheduler service?"))[0]).toContain("scheduler");
  });

  it("lets a fact be found before it is indexed", async () => {
    await write(ada, "An old fact about turbines");
    indexer.start();
    await everythingIsIndexed();
    await indexer.close();
    await write(ada, "A new fact about turbines");
    expect(await indexedIds(ada, "turbin")).toHaveLength(1);
    expect(textsOf(await search(ada, "turbines")).sort()).toEqual(["A new fact about turbines", "An old fact about turbines"]);
  });

  it("loses what was superseded, and a search never shows it", async () => {
    indexer.start();
    const slot = { subject: "api", predicate: "port" };
    const { fact: old } = await write(ada, "The api listens on port 8000", slot);
    await everythingIsIndexed();
    await indexer.close();
    await write(ada, "The api listens on port 9000", slot);
    expect(await indexedIds(ada, "8000")).toEqual([old.id]);
    expect(textsOf(await search(ada, "api port"))).toEqual(["The api listens on port 9000"]);

    indexer = new OutboxIndexer(test.database, new MeilisearchFactWriter(connection), new Circuit(), testLog);
    indexer.start();
    await everythingIsIndexed();
    expect(await indexedIds(ada, "8000")).toEqual([]);
  });

  it("may be away: the database answers and says so, and the index catches up by itself", async () => {
    indexer.start();
    await write(ada, "Migrations run before the deployment");
    await everythingIsIndexed();

    await meilisearch.stop();
    await write(ada, "Deployments stop on Fridays");
    const degraded = await search(ada, "deployment");
    expect(textsOf(degraded).sort()).toEqual(["Deployments stop on Fridays", "Migrations run before the deployment"]);
    expect(degraded).toMatchObject({ source: "database", notice: expect.stringContaining("hlvm status") });

    await meilisearch.start();
    await everythingIsIndexed();
    await expect.poll(async () => (await search(ada, "deployment")).source, { timeout: 10_000 }).toBe("index");
    expect(await indexedIds(ada, "deploy")).toHaveLength(2);
  });

  it("is filled again from the database when it is gone", async () => {
    indexer.start();
    await write(ada, "Backups are taken every night");
    await everythingIsIndexed();
    await connection.client(5_000, signal).deleteIndex(FACT_INDEX);
    await expect.poll(() => new MeilisearchFactWriter(connection).isMissing()).toBe(true);

    const during = await search(ada, "backups");
    expect(textsOf(during)).toEqual(["Backups are taken every night"]);
    await expect.poll(async () => (await search(ada, "backups")).source).toBe("index");
    await everythingIsIndexed();
    expect(await indexedIds(ada, "backup")).toHaveLength(1);
  });

  it("is promised all facts where they are more than a statement takes", async () => {
    const facts = 10_100;
    await test.database.query(
      `INSERT INTO fact (fact_id, organization, owner, project, scope, audience, text, text_key, stems, category, type, origin, subject,
         predicate, slot, tags, pinned, source_session_id)
       SELECT gen_random_uuid(), $1, 'user:ada', '', 'team', $1, number::text, number::text, '', '', 'user', 'user-stated', '', '', '', '{}',
         false, '' FROM generate_series(1, $2::int) AS number`,
      [ada.organization, facts],
    );
    const attempts = new EventEmitter();
    const unmade = await standInIndex((request, response) => {
      const isAsked = request.method === "GET";
      response.writeHead(isAsked ? 404 : 500).end(JSON.stringify({ code: isAsked ? "index_not_found" : "internal" }));
      if (!isAsked) attempts.emit("failed");
    });
    const filling = new OutboxIndexer(test.database, new MeilisearchFactWriter(unmade), new Circuit(), testLog);
    const failed = once(attempts, "failed");
    filling.start();
    await failed;
    await filling.close();
    const counted = "SELECT count(DISTINCT fact_id)::int AS facts, count(*)::int AS rows FROM outbox WHERE audience = $1";
    expect(await test.database.query(counted, [ada.organization])).toEqual([{ facts, rows: facts }]);
    await test.database.query("DELETE FROM outbox WHERE audience = $1", [ada.organization]);
    await test.database.query("DELETE FROM fact WHERE organization = $1", [ada.organization]);
  });

  it("is promised every fact once, however often it cannot be made", async () => {
    const idsOf = async (): Promise<string[]> => {
      const rows = await test.database.query<{ fact_id: string }>(
        "SELECT fact_id FROM outbox JOIN fact USING (fact_id) WHERE organization = $1",
        [ada.organization],
      );
      return rows.map((row) => row.fact_id).sort();
    };
    const { fact: indexed } = await write(ada, "Turbines are oiled in May");
    const { fact: waiting } = await write(ada, "Turbines are cleaned in June");
    await test.database.query("DELETE FROM outbox WHERE fact_id = $1", [indexed.id]);
    const attempts = new EventEmitter();
    const full = await standInIndex((request, response) => {
      const isAsked = request.method === "GET";
      response.writeHead(isAsked ? 404 : 500).end(JSON.stringify({ code: isAsked ? "index_not_found" : "internal" }));
      if (!isAsked) attempts.emit("attempt");
    });
    indexer = new OutboxIndexer(test.database, new MeilisearchFactWriter(full), new Circuit(), testLog);
    indexer.start();
    for (let attempt = 0; attempt < 3; attempt++) await once(attempts, "attempt");
    await indexer.close();
    expect(await idsOf()).toEqual([indexed.id, waiting.id].sort());
  });

  it("is asked where more facts than it serves from hold each word of a question, and gives those that hold all first", async () => {
    indexer.start();
    index = new MeilisearchFactIndex(connection, new Circuit(), testLog, () => undefined, 2);
    for (const part of ["bearing", "belt", "gear"]) await write(ada, `The turbine's ${part} is oiled`);
    await write(ada, "The turbine's valve is painted");
    await everythingIsIndexed();
    expect(await search(ada, "which turbine part is oiled?")).toMatchObject({ source: "index" });
    expect(await search(ada, "which turbine is painted?")).toMatchObject({ source: "database" });
    expect(await search(ada, "which colour has the door?")).toMatchObject({ source: "database", facts: [] });
    const { ids } = await index.candidates(audiencesOf(ada), { terms: ["turbin", "oil"], forms: ["turbin", "oil"] }, 3, signal);
    const oiled = await search(ada, "oiled");
    expect(new Set(ids)).toEqual(new Set(oiled.facts.map(({ fact }) => fact.id)));
  });

  it("says in the log once why it does not answer, each time that it stops answering", async () => {
    const warn = vi.spyOn(testLog, "warn").mockReturnValue(undefined);
    const answers = [false, false, true, false];
    const moody = await standInIndex((_request, response) => {
      const results = [1, 2, 3].map(() => ({ hits: [], estimatedTotalHits: 0 }));
      response.end(answers.shift() ? JSON.stringify({ results }) : "<html>Sign in</html>");
    });
    const circuit = new Circuit();
    index = new MeilisearchFactIndex(moody, circuit, testLog, () => undefined, 0);
    const logged: number[] = [];
    while (answers.length > 0) {
      await index.candidates(["a"], { terms: ["turbin"], forms: ["turbin"] }, 1, signal).catch(() => circuit.answered());
      logged.push(warn.mock.calls.length);
    }
    expect(logged).toEqual([1, 1, 1, 2]);
    expect(warn.mock.calls[0]).toEqual([{ err: expect.any(SyntaxError) }, expect.stringContaining("search index")]);
    warn.mockRestore();
  });

  it("is told to be busy, not dead, at the first question after a start and while it rests from that", async () => {
    const silent = await standInIndex(() => undefined);
    index = new MeilisearchFactIndex(silent, new Circuit(), testLog, () => undefined, 0);
    await write(ada, "Turbines are oiled in May");
    for (let question = 0; question < 2; question++)
      expect((await search(ada, "turbines")).notice).toMatch(/^The search index \(Meilisearch\) is busy .* Nothing needs to be done/);
  });

  it("is told to be new, not dead, before it is made", async () => {
    const empty = await standInIndex((_request, response) => {
      response.writeHead(404).end(JSON.stringify({ code: "index_not_found", message: "There is no such index." }));
    });
    index = new MeilisearchFactIndex(empty, new Circuit(), testLog, () => undefined, 0);
    await write(ada, "Turbines are oiled in May");
    expect((await search(ada, "turbines")).notice).toMatch(/^The search index is new and is being filled\. .* Nothing needs to be done/);
  });

  it("is not waited for when it takes requests and answers none", async () => {
    let requests = 0;
    const silent = await standInIndex(() => requests++);
    index = new MeilisearchFactIndex(silent, new Circuit(), testLog, () => undefined, 0);
    await write(ada, "Turbines are oiled in May");
    expect(await search(ada, "turbines")).toMatchObject({ source: "database", facts: [{ fact: { text: "Turbines are oiled in May" } }] });
    await search(ada, "turbines");
    expect(requests).toBe(1);
  });

  it("is not waited for by somebody who has gone", async () => {
    const gone = AbortSignal.abort(new Error("gone"));
    await expect(searchFacts({ store, index }, ada, { query: "anything here", limit: 100 }, gone)).rejects.toThrow("gone");
  });

  it("is not asked while it lacks much, and takes it in batch by batch", async () => {
    await test.database.query("TRUNCATE fact, outbox CASCADE");
    for (let n = 0; n < 3; n++) await write(ada, `Distinct fact number ${n}`);
    await test.database.query("INSERT INTO outbox (fact_id) SELECT fact_id FROM fact, generate_series(1, 300)");
    expect(await search(ada, "distinct")).toMatchObject({ source: "database", notice: expect.stringContaining("catching up") });
    indexer.start();
    await everythingIsIndexed();
    expect(await indexedIds(ada, "distinct")).toHaveLength(3);
  });
});

describe("a receipt of a tool call", () => {
  it("is forgotten after a week, when there is nothing else to do", async () => {
    const receipts = (): Promise<unknown[]> =>
      test.database.query("SELECT call_id FROM tool_receipt WHERE organization = $1", [ada.organization]);
    await test.database.query(
      `INSERT INTO tool_receipt (organization, session_id, call_id, owner, arguments_hash, created_at)
       SELECT $1, gen_random_uuid(), days || ' days', 'user:ada', '', now() - make_interval(days => days) FROM unnest(ARRAY[6, 8]) AS days`,
      [ada.organization],
    );
    indexer.start();
    await expect.poll(receipts, { timeout: 15_000 }).toEqual([{ call_id: "6 days" }]);
  });
});

describe("recall", () => {
  it("gives pinned facts first, then those that hold what is rare in the question, at most ten", async () => {
    indexer.start();
    const pin = (text: string) => store.inScope(ada, (facts) => writeFact(facts, ada, draftOf(text, { pinned: true })));
    await write(ada, "The scheduler retries three times");
    for (let n = 0; n < 9; n++) await write(ada, `Team ${n} meets on Mondays`);
    await pin("Answer in English");
    await everythingIsIndexed();
    const recalled = await recall({ store, index }, ada, "How often does the scheduler retry?", signal);
    expect(recalled.facts.map(({ text }) => text)).toEqual(["Answer in English", "The scheduler retries three times"]);
    expect(recalled.moreExist).toBe(true);

    for (let n = 0; n < 10; n++) await pin(`Rule ${n}`);
    const full = await recall({ store, index }, ada, "How often does the scheduler retry?", signal);
    expect(full.facts).toHaveLength(10);
    expect(full.facts.every(({ pinned }) => pinned)).toBe(true);
  });

  it("gives nothing for a question that memory knows nothing of, and says when nothing more exists", async () => {
    expect(await recall({ store, index }, ada, "", signal)).toMatchObject({ facts: [], moreExist: false });
    await write(ada, "The scheduler retries three times");
    expect(await recall({ store, index }, ada, "what colour is the sky over Paris today", signal)).toMatchObject({
      facts: [],
      moreExist: true,
    });
  });
});
