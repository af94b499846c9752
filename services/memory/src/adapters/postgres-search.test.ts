import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import fastCheck from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { testLog } from "@hlvm/testing/test-log";
import { audienceOf } from "../domain/audience.ts";
import { recall } from "../domain/recall.ts";
import { removeFact } from "../domain/remove-fact.ts";
import type { FoundItem } from "../domain/search/found-item.ts";
import { undoChange } from "../domain/undo-change.ts";
import type { Viewer } from "../domain/viewer.ts";
import { writeFact, type FactDraft } from "../domain/write-fact.ts";
import { draftOf } from "../testing/draft-of.ts";
import { newcomer } from "../testing/newcomer.ts";
import { PostgresFactStore } from "./postgres-fact-store.ts";
import { fillSearch } from "./search-filler.ts";

let test: TestDatabase;
let store: PostgresFactStore;

beforeAll(async () => {
  test = await createTestDatabase(fileURLToPath(new URL("../../migrations", import.meta.url)));
  store = new PostgresFactStore(test.database, () => undefined);
});
afterAll(() => test.drop());

const write = async (viewer: Viewer, text: string, draft: Partial<FactDraft> = {}): Promise<string> =>
  (await store.inScope(viewer, (facts) => writeFact(facts, viewer, draftOf(text, draft)))).fact.id;
const search = (viewer: Viewer, query: string, among?: readonly string[]): Promise<FoundItem[]> =>
  store.inScope(viewer, async ({ search: items }) => items.score(await items.ask("fact", query), 10, among));
const idsOf = (found: readonly FoundItem[]): string[] => found.map(({ itemId }) => itemId);

it("finds what stands beside an answer, in its session, by whom and when it was said, and says what each counts", async () => {
  const ada = newcomer();
  const say = (actor: string, sourceOrdinal: number, text: string, sourceSessionId = "s1"): Promise<string> =>
    write(ada, text, { actor, sourceOrdinal, sourceSessionId, saidAt: new Date("2023-05-08T10:00:00Z") });
  const question = await say("Melanie", 0, "Where did you buy the telescope?");
  const answer = await say("Caroline", 1, "Downtown, next to the bakery");
  const named = await say("Caroline", 5, "The telescope is wonderful");
  await say("Melanie", 0, "Gardening took all day", "s2");
  const found = await search(ada, "What did Caroline say of the telescope in May 2023?");
  expect(idsOf(found)[0]).toBe(named);
  expect(idsOf(found).sort()).toEqual([question, answer, named].sort());
  const parts = new Map(found.map((item) => [item.itemId, item.parts]));
  expect(parts.get(answer)).toMatchObject({ terms: {}, actor: 3, neighbours: expect.closeTo(0.6 * parts.get(question)!.terms.telescop!) });
  expect(parts.get(question)!.actor).toBe(0);
  for (const { score, parts: of } of found) {
    expect(of.date).toBeGreaterThan(0);
    const words = Object.values(of.terms).reduce((sum, one) => sum + one, 0);
    expect(score).toBeCloseTo((words + of.neighbours + of.container + of.actor + of.date) * of.provenance * of.tieBreak);
  }
});

it("has at once what is written, never what ended, and again what was undone", async () => {
  const ada = newcomer();
  const id = await write(ada, "The turbine is oiled on Mondays");
  expect(idsOf(await search(ada, "turbine"))).toEqual([id]);
  await store.inScope(ada, (facts) => removeFact(facts, ada, id, { origin: "user-stated", sourceSessionId: "" }));
  expect(await search(ada, "turbine")).toEqual([]);
  await store.inScope(ada, async (facts) => undoChange(facts, ada, (await facts.history.latestOf([id]))!.id));
  expect(idsOf(await search(ada, "turbine"))).toEqual([id]);
});

it("counts what a person said double, and age only where all else is equal", async () => {
  const ada = newcomer();
  const inferred = await write(ada, "deploys run nightly in the cluster", { origin: "model-inferred" });
  const stated = await write(ada, "deploys run in the cluster sometimes");
  expect(idsOf(await search(ada, "deploys run"))).toEqual([stated, inferred]);
  await test.database.query("UPDATE search_item SET added_at = now() - interval '9 years' WHERE item_id = $1", [stated]);
  expect(idsOf(await search(ada, "deploys run"))).toEqual([stated, inferred]);
});

it("finds a verb in the form that the text has, as one word of the question", async () => {
  const ada = newcomer();
  const bought = await write(ada, "Grace bought a telescope");
  const both = await write(ada, "To buy or to have bought");
  await write(ada, "Grace sold a boat");
  const found = await search(ada, "What did Grace buy?");
  expect(idsOf(found)[0]).toBe(bought);
  const parts = new Map(found.map((item) => [item.itemId, item]));
  expect(Object.keys(parts.get(both)!.parts.terms)).toEqual(["bui"]);
  expect(parts.get(bought)!.coverage).toBeCloseTo(1);
});

it("is the same when everything is cut again, and among all candidates", async () => {
  const ada = newcomer();
  for (const text of ["red turbine", "red door of the house", "a house in Paris", "turbine hall, red"]) await write(ada, text);
  const before = await search(ada, "red turbine house");
  expect(before).toHaveLength(4);
  expect(idsOf(await search(ada, "red turbine house", idsOf(before)))).toEqual(idsOf(before));
  await test.database.query("DELETE FROM search_item WHERE organization = $1", [ada.organization]);
  expect(
    await test.database.query("SELECT FROM search_corpus WHERE organization = $1 AND (items, length) <> (0, 0)", [ada.organization]),
  ).toEqual([]);
  await fillSearch(test.database, testLog);
  const termsById = (found: readonly FoundItem[]): unknown => new Map(found.map(({ itemId, parts }) => [itemId, parts.terms]));
  expect(termsById(await search(ada, "red turbine house"))).toEqual(termsById(before));
});

it("follows a fact to another project", async () => {
  const ada = newcomer();
  const there = { ...ada, project: "project:there" };
  const id = await write(ada, "Builds take nine minutes");
  const audience = audienceOf(ada.organization, { scope: "project", owner: ada.principal, project: there.project });
  await test.database.query("SELECT adopt_project($1, $2, $3, $4, $5)", [
    ada.organization,
    ada.principal,
    ada.project,
    there.project,
    audience,
  ]);
  expect(await search(ada, "builds")).toEqual([]);
  expect(idsOf(await search(there, "builds"))).toEqual([id]);
});

it("shows nothing of anybody else, whatever the scope and the question", async () => {
  const organizations = [randomUUID(), randomUUID()];
  const viewers = organizations.flatMap((organization) =>
    ["user:ada", "user:bob"].flatMap((principal) =>
      ["/a", "/b", ""].map((project) => ({ organization, principal, project, mayWriteTeamFacts: true })),
    ),
  );
  const words = ["turbine", "door", "house", "paris", "ada", "bob"];
  const owners = new Map<string, Viewer & { scope: string }>();
  for (const viewer of viewers)
    for (const scope of ["personal", "team", ...(viewer.project === "" ? [] : ["project"])] as FactDraft["scope"][]) {
      const text = `${words.join(" ")} ${randomUUID()}`;
      const draft = { scope, sourceSessionId: "same", sourceOrdinal: owners.size % 5, actor: viewer.principal.slice(5) };
      owners.set(await write(viewer, text, draft), { ...viewer, scope: scope! });
    }
  const sees = (viewer: Viewer, id: string): boolean => {
    const of = owners.get(id)!;
    const isTheirs = { personal: of.principal === viewer.principal, team: true, project: of.project === viewer.project }[of.scope];
    return of.organization === viewer.organization && isTheirs === true;
  };
  await fastCheck.assert(
    fastCheck.asyncProperty(
      fastCheck.constantFrom(...viewers),
      fastCheck.subarray(words, { minLength: 1 }),
      fastCheck.subarray([...owners.keys()]),
      async (viewer, asked, candidates) => {
        for (const found of [await search(viewer, asked.join(" ")), await search(viewer, asked.join(" "), candidates)])
          for (const { itemId } of found) expect(sees(viewer, itemId)).toBe(true);
      },
    ),
    { numRuns: 60 },
  );
});

it("reminds of the only fact there is where it answers, of what stands beside an answer too, and of nothing that is asked of others", async () => {
  const index = { servesFrom: 10_000, candidates: () => Promise.reject(new Error("not asked")) };
  const recalled = async (viewer: Viewer, question: string) =>
    (await recall({ store, index }, viewer, question, new AbortController().signal)).facts.map(({ text }) => text);
  const ada = newcomer();
  await write(ada, "The staging database is called heron");
  expect(await recalled(ada, "What is our staging database called?")).toHaveLength(1);
  expect(await recalled(ada, "Which database do we test staging deployments with?")).toHaveLength(1);
  expect(await recalled(ada, "Who ordered the database course for Tuesday's offsite in Lisbon?")).toEqual([]);
  await write(ada, "Its snapshots are taken hourly", { sourceSessionId: "s1", sourceOrdinal: 1 });
  await write(ada, "Which snapshots of heron are kept?", { sourceSessionId: "s1", sourceOrdinal: 0 });
  expect(await recalled(ada, "How long are heron snapshots kept?")).toHaveLength(3);
});
