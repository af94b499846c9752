import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import fastCheck from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { testLog } from "@hlvm/testing/test-log";
import type { FactScope } from "../domain/fact.ts";
import { recall } from "../domain/recall.ts";
import { removeFact } from "../domain/remove-fact.ts";
import { searchFacts, type FactSearch } from "../domain/search-facts.ts";
import { writeFact, type FactDraft } from "../domain/write-fact.ts";
import type { Viewer } from "../domain/viewer.ts";
import { ConceptEmbedder } from "../testing/concept-embedder.ts";
import { draftOf } from "../testing/draft-of.ts";
import { newcomer } from "../testing/newcomer.ts";
import { chooseEmbeddingModel } from "./embedding-model.ts";
import { ItemEmbedder } from "./item-embedder.ts";
import { PostgresFactStore } from "./postgres-fact-store.ts";
import { PostgresTranscripts } from "./postgres-transcripts.ts";

const { signal } = new AbortController();
const index = { servesFrom: 20_000, candidates: () => Promise.reject(new Error("not asked")) };
/** About nothing that a test asks for, and not about one another. */
const OTHERS = [
  "Lunch is at noon",
  "The printer is on floor two",
  "Badges expire in June",
  "Parking costs nine",
  "Visitors sign in",
  "Lights go off late",
];

let test: TestDatabase;
let store: PostgresFactStore;
let embedder: ConceptEmbedder;
let worker: ItemEmbedder;
let ada: Viewer;

beforeAll(async () => {
  test = await createTestDatabase(fileURLToPath(new URL("../../migrations", import.meta.url)));
  store = new PostgresFactStore(test.database, () => undefined);
});
afterAll(() => test.drop());
beforeEach(async () => {
  await test.database.query("TRUNCATE fact, search_item, item_embedding CASCADE");
  embedder = new ConceptEmbedder();
  worker = new ItemEmbedder(test.database, embedder, testLog);
  ada = newcomer();
});
afterEach(async () => {
  await worker.close();
  await chooseEmbeddingModel(test.database, undefined);
});

const write = async (viewer: Viewer, text: string, draft: Partial<FactDraft> = {}): Promise<string> =>
  (await store.inScope(viewer, (facts) => writeFact(facts, viewer, draftOf(text, draft)))).fact.id;
const search = (viewer: Viewer, query: string): Promise<FactSearch> =>
  searchFacts({ store, index, embedder }, viewer, { query, limit: 10 }, signal);
const textsOf = (found: FactSearch): string[] => found.facts.map(({ fact }) => fact.text);
const waiting = async (): Promise<number> =>
  (await test.database.query<{ count: number }>("SELECT count(*)::int AS count FROM item_embedding WHERE due_at IS NOT NULL"))[0]!.count;
const begin = async (): Promise<void> => {
  await chooseEmbeddingModel(test.database, embedder.model);
  worker.start();
};
const allAreEmbedded = async (): Promise<void> => {
  await expect
    .poll(() => test.database.query("SELECT FROM search_item LEFT JOIN item_embedding USING (item_id) WHERE signs IS NULL"), {
      timeout: 10_000,
      interval: 20,
    })
    .toEqual([]);
};
function sees(viewer: Viewer, owner: Viewer, scope: FactScope): boolean {
  const isTheirs = { personal: owner.principal === viewer.principal, project: owner.project === viewer.project, team: true }[scope];
  return owner.organization === viewer.organization && isTheirs;
}
const failing = (reason: string) => new HlvmError({ code: "unavailable", reason, message: "No vectors." });

describe("a search where a model makes vectors", () => {
  it("finds what means the same in other words, written before or after, and says what that counts", async () => {
    for (const text of OTHERS) await write(ada, text);
    const before = await write(ada, "Ben went to the physician");
    await begin();
    const after = await write(ada, "Grace has a puppy");
    await allAreEmbedded();
    expect((await search(ada, "who saw a doctor?")).facts[0]).toMatchObject({ fact: { id: before }, parts: { terms: {} } });
    const [best] = (await search(ada, "whose dog is it?")).facts;
    expect(best!.fact.id).toBe(after);
    expect(best!.parts.similarity).toBeGreaterThan(2);
    expect(best!.score).toBeCloseTo(best!.parts.similarity * best!.parts.provenance * best!.parts.tieBreak);
  });

  it("puts first, of what holds the same words, what means what was asked", async () => {
    for (const text of OTHERS) await write(ada, text);
    await write(ada, "The song of the Monday choir in the hall");
    await write(ada, "The automobile of the Monday shift in the hall");
    expect(textsOf(await search(ada, "the vehicle on Monday"))).toHaveLength(2);
    await begin();
    await allAreEmbedded();
    expect(textsOf(await search(ada, "the vehicle on Monday"))[0]).toContain("automobile");
  });

  it("finds nothing where nothing stands out, and a run is reminded of nothing that holds none of its words", async () => {
    for (const text of [...OTHERS, "Grace has a puppy"]) await write(ada, text);
    await begin();
    await allAreEmbedded();
    expect(textsOf(await search(ada, "quantum chromodynamics"))).not.toContain("Grace has a puppy");
    expect((await recall({ store, index, embedder }, ada, "which hound?", signal)).facts).toEqual([]);
  });

  it("never comes near what its viewer may not see", async () => {
    await begin();
    const viewers = [ada, { ...ada, principal: "user:ben" }, { ...ada, project: "/src/other" }, { ...ada, organization: randomUUID() }];
    const owners = new Map<string, [Viewer, FactScope]>();
    for (const viewer of viewers)
      for (const scope of ["personal", "project", "team"] as const)
        for (const word of ["car", "physician", "guitar"])
          owners.set(await write(viewer, `The ${word} of ${scope} ${randomUUID()}`, { scope }), [viewer, scope]);
    await allAreEmbedded();
    await fastCheck.assert(
      fastCheck.asyncProperty(
        fastCheck.constantFrom(...viewers),
        fastCheck.constantFrom("automobile", "doctor", "song"),
        async (viewer, word) => {
          const { facts } = await search(viewer, word);
          expect(facts.length).toBeGreaterThan(0);
          expect(facts.filter(({ fact }) => !sees(viewer, ...owners.get(fact.id)!))).toEqual([]);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("compares words alone while the model is away, says so, and catches up", async () => {
    for (const text of OTHERS) await write(ada, text);
    embedder.fails = () => failing("embeddings_unavailable");
    await begin();
    await expect.poll(() => embedder.asked.length).toBeGreaterThan(0);
    expect(await search(ada, "when is lunch?")).toMatchObject({
      notice: expect.stringContaining("Words alone"),
      facts: [{ fact: { text: "Lunch is at noon" } }],
    });
    embedder.fails = () => undefined;
    await allAreEmbedded();
    expect((await search(ada, "when is lunch?")).notice).toBe("");
  });

  it("goes by words alone with vectors of another model, and has its own once that is chosen", async () => {
    for (const text of [...OTHERS, "Grace has a puppy"]) await write(ada, text);
    await begin();
    await allAreEmbedded();
    const other = new ConceptEmbedder("other");
    const searched = await searchFacts({ store, index, embedder: other }, ada, { query: "puppy", limit: 10 }, signal);
    expect(searched.facts.map(({ parts }) => parts.similarity)).toEqual([0]);
    await chooseEmbeddingModel(test.database, "other");
    expect(await test.database.query("SELECT FROM item_embedding")).toEqual([]);
  });
});

describe("the vectors", () => {
  it("of a fact that ends go with it, and of one that others see from now on are found by them alone", async () => {
    await begin();
    for (const text of OTHERS) await write(ada, text);
    const ends = await write(ada, "Grace has a puppy");
    const moves = await write(ada, "Ben bought a guitar", { scope: "project" });
    await allAreEmbedded();
    await store.inScope(ada, (facts) => removeFact(facts, ada, ends, { origin: "user-stated", sourceSessionId: "" }));
    expect(await test.database.query("SELECT FROM item_embedding WHERE item_id = $1", [ends])).toEqual([]);
    await test.database.query("UPDATE search_item SET project = '/src/other' WHERE item_id = $1", [moves]);
    const [place] = await test.database.query(
      "SELECT item.corpus_id = embedded.corpus_id AS is_same, vector IS NULL AS is_gone FROM search_item AS item JOIN item_embedding AS embedded USING (item_id) WHERE item_id = $1",
      [moves],
    );
    expect(place).toEqual({ is_same: true, is_gone: false });
  });

  it("of a turn that is said otherwise are made anew, and what was asked for meanwhile does not count", async () => {
    const transcripts = new PostgresTranscripts(test.database, embedder);
    const head = { tool: "claude", session: "s1", title: "", folder: "", machine: "", firstAsked: "" };
    const say = (text: string) => transcripts.put(ada, head, [{ key: "1", ordinal: 0, speaker: "person", saidAt: new Date(), text }]);
    await begin();
    await say("My automobile is red");
    await allAreEmbedded();
    expect(await transcripts.search(ada, "vehicle", 5)).toHaveLength(0);
    await say("My puppy is red");
    await allAreEmbedded();
    expect(embedder.asked.filter((text) => text.includes("red"))).toEqual(["My automobile is red", "My puppy is red"]);
    const claim = new Date();
    await test.database.query("UPDATE item_embedding SET due_at = $1", [claim]);
    await say("My song is red");
    expect(await waiting()).toBe(1);
    await allAreEmbedded();
    expect(embedder.asked.at(-1)).toBe("My song is red");
  });

  it("are left out of what the model refuses, by its beginning where it is too long, and of nothing beside it", async () => {
    embedder.fails = (texts) => (texts.some((text) => text.length > 400) ? failing("embeddings_refused") : undefined);
    const long = await write(ada, `Grace has a puppy ${"and another ".repeat(60)}`);
    for (const text of OTHERS) await write(ada, text);
    await begin();
    await allAreEmbedded();
    expect(Math.max(...embedder.asked.map((text) => text.length))).toBeGreaterThan(400);
    expect((await search(ada, "dog")).facts[0]!.fact.id).toBe(long);
    embedder.fails = (texts) => (texts.some((text) => text.includes("hound")) ? failing("embeddings_refused") : undefined);
    const refused = await write(ada, "A hound");
    await write(ada, "A recipe");
    await expect.poll(waiting, { timeout: 10_000 }).toBe(0);
    expect(await test.database.query("SELECT item_id FROM item_embedding WHERE vector IS NULL")).toEqual([{ item_id: refused }]);
  });

  it("are not waited for where no model is set", async () => {
    await write(ada, "Grace has a puppy");
    expect(await test.database.query("SELECT FROM item_embedding")).toEqual([]);
  });

  it("are made by two at once, each text once", async () => {
    for (let number = 0; number < 60; number++) await write(ada, `Distinct text number ${number}`);
    const second = new ItemEmbedder(test.database, embedder, testLog);
    await begin();
    second.start();
    await allAreEmbedded();
    await second.close();
    expect(embedder.asked).toHaveLength(60);
    expect(new Set(embedder.asked).size).toBe(60);
  });
});
