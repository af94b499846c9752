import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Database } from "@hlvm/postgres/database";
import { migrate } from "@hlvm/postgres/migrate";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { testLog } from "@hlvm/testing/test-log";
import { audienceOf } from "../domain/audience.ts";
import type { Fact } from "../domain/fact.ts";
import { pinFact } from "../domain/pin-fact.ts";
import { removeFact } from "../domain/remove-fact.ts";
import { PERSON, replaceFact } from "../domain/replace-fact.ts";
import type { Viewer } from "../domain/viewer.ts";
import { writeFact, type FactDraft } from "../domain/write-fact.ts";
import { draftOf } from "../testing/draft-of.ts";
import { newcomer } from "../testing/newcomer.ts";
import { PostgresFactStore } from "./postgres-fact-store.ts";

const MIGRATIONS = fileURLToPath(new URL("../../migrations", import.meta.url));
let test: TestDatabase;
let store: PostgresFactStore;

beforeAll(async () => {
  test = await createTestDatabase(MIGRATIONS);
  store = new PostgresFactStore(test.database, () => undefined);
});
afterAll(() => test.drop());

const write = (viewer: Viewer, text: string, draft: Partial<FactDraft> = {}, into = store) =>
  into.inScope(viewer, (facts) => writeFact(facts, viewer, draftOf(text, draft)));
const find = (viewer: Viewer, id: string) => store.inScope(viewer, (facts) => facts.find(id));
const holds = async (viewer: Viewer, term: string, from = store): Promise<string[]> => {
  const { ids } = await from.inScope(viewer, (facts) => facts.fullTextCandidates([term], 50));
  return [...ids];
};

describe("writing", () => {
  it("supersedes what held on the same property of the same subject, and keeps it in the history", async () => {
    const ada = newcomer();
    const slot = { subject: "repository", predicate: "default_branch" };
    const { fact: old } = await write(ada, "The default branch is master", slot);
    const { fact, superseded } = await write(ada, "The default branch is main", { subject: "Repository", predicate: "Default_Branch" });
    expect(superseded.map(({ id }) => id)).toEqual([old.id]);
    expect(await find(ada, old.id)).toMatchObject({
      text: "The default branch is master",
      supersededBy: fact.id,
      validTo: expect.any(Date),
    });
    expect(await holds(ada, "branch")).toEqual([fact.id]);
  });

  it("supersedes nothing in another scope, project or slot", async () => {
    const ada = newcomer();
    const slot = { subject: "repository", predicate: "default_branch" };
    await write(ada, "The default branch is main", slot);
    for (const [viewer, draft] of [
      [ada, { ...slot, scope: "personal" }],
      [ada, { ...slot, predicate: "branch_prefix" }],
      [{ ...ada, project: "/src/other" }, slot],
    ] as const)
      expect((await write(viewer, "The default branch is trunk", draft)).superseded).toEqual([]);
  });

  it("leaves one valid fact in a slot however many write at once", async () => {
    const ada = newcomer();
    const slot = { subject: "service", predicate: "port" };
    await Promise.all(Array.from({ length: 12 }, (_, port) => write(ada, `The service listens on port ${8000 + port}`, slot)));
    expect(await holds(ada, "port")).toHaveLength(1);
  });

  it("adds no row for what is known, unless somebody more to be trusted says it", async () => {
    const ada = newcomer();
    const { fact: inferred } = await write(ada, "Tests run with vitest", { origin: "model-inferred" });
    expect(await write(ada, "tests run  with vitest.", { origin: "model-inferred" })).toMatchObject({
      fact: { id: inferred.id },
      isNew: false,
    });
    const { fact: stated, superseded } = await write(ada, "Tests run with vitest");
    expect(superseded.map(({ id }) => id)).toEqual([inferred.id]);
    expect(await write(ada, "Tests run with vitest", { origin: "model-inferred" })).toMatchObject({
      fact: { id: stated.id, origin: "user-stated" },
    });
    expect(await holds(ada, "vitest")).toEqual([stated.id]);
  });

  it("finds what a sentence is about by itself: what was so is kept with its time, and what says the same is one", async () => {
    const ada = newcomer();
    const { fact: old } = await write(ada, "The deploy branch is master");
    const { fact, superseded } = await write(ada, "The deploy branch is now main");
    expect([superseded.map(({ id }) => id), fact.predicate]).toEqual([[old.id], "deploy branch"]);
    expect(await find(ada, old.id)).toMatchObject({ validTo: fact.validFrom });
    expect(await write(ada, "Trunk is the deploy branch")).toMatchObject({ superseded: [{ id: fact.id }] });
    expect(await write(ada, "the deploy branch is  trunk!")).toMatchObject({ isNew: false });
    const { fact: known } = await write(ada, "On Fridays we deploy, from main");
    expect(await write(ada, "we deploy from main on Fridays?")).toMatchObject({ isNew: false, fact: { id: known.id } });
    // A sentence of a conversation is kept beside the others.
    for (const [sourceOrdinal, city] of ["Berlin", "Lisbon"].entries())
      expect(await write(ada, `Ada lives in ${city}`, { sourceOrdinal, actor: "Ada" })).toMatchObject({ superseded: [] });
  });

  it("pins a known fact when it is written again as pinned", async () => {
    const ada = newcomer();
    await write(ada, "Never push to main");
    expect(await write(ada, "Never push to main", { pinned: true })).toMatchObject({ isNew: false, fact: { pinned: true } });
  });

  it("stores no secret, in any of its columns", async () => {
    const ada = newcomer();
    const key = `AKIA${"Q7R2".repeat(4)}`;
    await write(ada, `Deploy with ${key}`, { subject: `deploy ${key}`, predicate: key, category: key, tags: [key] });
    const rows = await test.database.query("SELECT row_to_json(fact)::text AS row FROM fact WHERE organization = $1", [ada.organization]);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows).toLowerCase()).not.toContain(key.toLowerCase());
  });

  it.each([[`AKIA${"Q7R2".repeat(4)}`], [" \0 "], ["…"]])("refuses a fact that says nothing: %j", async (text) => {
    await expect(write(newcomer(), text)).rejects.toMatchObject({ reason: "fact_empty", advice: expect.stringContaining("stands alone") });
  });

  it.each(["   \u00a0 ", "<p><br/></p>", "<!-- --> &nbsp; ![](x.png)", "** -- __ ```", "\u200b\u202e"])(
    "refuses blanks, markup and what nobody sees: %j",
    async (text) => {
      await expect(write(newcomer(), text)).rejects.toMatchObject({ reason: "fact_empty" });
    },
  );

  it("shows what hides in a text, leaves joined letters and emoji, and finds a secret that something was hidden in", async () => {
    const ada = newcomer();
    const text = async (given: string): Promise<string> => (await write(ada, given)).fact.text;
    expect(await text("Run \u202eelif\u202c it\u200b now")).toBe("Run ⟦U+202E⟧elif⟦U+202C⟧ it⟦U+200B⟧ now");
    expect(await text("👩‍💻 prefers می‌خواهم ❤️\u00a0tabs")).toBe("👩‍💻 prefers می‌خواهم ❤️ tabs");
    expect(await text(`The key AKIA\u200b${"Q7R2".repeat(4)} opens it`)).toBe("The key [secret: AWS key] opens it");
    expect(await text("lone \ud800 half")).toBe("lone ⟦U+D800⟧ half");
  });

  it("holds for no less than no time where the clock went back", async () => {
    const ada = newcomer();
    const { fact } = await write(ada, "The deploy branch is master");
    await test.database.query("UPDATE fact SET valid_from = now() + interval '1 hour' WHERE fact_id = $1", [fact.id]);
    await write(ada, "The deploy branch is main");
    const old = await find(ada, fact.id);
    expect(old!.validTo!.getTime()).toBe(old!.validFrom.getTime());
  });

  it("takes the longest texts and names that the contract allows", async () => {
    const ada = { ...newcomer(), project: `/${"p".repeat(4095)}` };
    const { fact } = await write(ada, `ä${"😀 word ".repeat(1500)}`, { subject: "ü".repeat(256), predicate: "ß".repeat(256) });
    expect(await holds(ada, "word")).toEqual([fact.id]);
  });
});

describe("scope", () => {
  it("shows personal facts to their owner, project facts in their project, team facts to the organization", async () => {
    const ada = newcomer();
    const bob: Viewer = { ...ada, principal: "user:bob" };
    const elsewhere: Viewer = { ...ada, project: "/src/other" };
    const outside: Viewer = { ...ada, project: "" };
    const stranger: Viewer = { ...ada, organization: randomUUID() };
    const idOf = async (scope: Fact["scope"]): Promise<string> => (await write(ada, `secretword of ${scope}`, { scope })).fact.id;
    const [personal, project, team] = [await idOf("personal"), await idOf("project"), await idOf("team")];

    const seen = async (viewer: Viewer): Promise<string[]> => (await holds(viewer, "secretword")).sort();
    expect(await seen(ada)).toEqual([personal, project, team].sort());
    expect(await seen(bob)).toEqual([project, team].sort());
    expect(await seen(elsewhere)).toEqual([personal, team].sort());
    expect(await seen(outside)).toEqual([personal, team].sort());
    expect(await seen(stranger)).toEqual([]);

    for (const [viewer, id] of [
      [bob, personal],
      [elsewhere, project],
      [stranger, team],
      [stranger, personal],
    ] as const) {
      expect(await find(viewer, id)).toBeUndefined();
      for (const change of [removeFact, (facts, who, fact) => pinFact(facts, who, fact, true)] satisfies (typeof removeFact)[])
        await expect(store.inScope(viewer, (facts) => change(facts, viewer, id, PERSON))).rejects.toMatchObject({
          reason: "fact_not_found",
        });
    }
  });

  it("is decided by the database, whatever the statement asks for", async () => {
    const ada = newcomer();
    const { fact } = await write(ada, "only for Ada", { scope: "personal" });
    const asBob = (sql: string, values: unknown[] = []) =>
      test.database.transaction(async (queries) => {
        await queries.query("SELECT enter_scope($1, $2, $3)", [ada.organization, "user:bob", ada.project]);
        return queries.query(sql, values);
      });
    expect(await asBob("SELECT fact_id FROM fact")).toEqual([]);
    expect(await asBob("UPDATE fact SET text = 'mine' RETURNING fact_id")).toEqual([]);
    await expect(asBob("DELETE FROM fact")).rejects.toThrow("permission denied");
    await expect(
      asBob(
        `INSERT INTO fact (fact_id, organization, owner, project, scope, audience, text, text_key, stems, category, type, origin, subject,
           predicate, slot, tags, pinned, source_session_id)
         SELECT gen_random_uuid(), $1, 'user:ada', '', 'personal', 'a', 'planted', 'k', 's', '', 'user', 'user-stated', '', '', '', '{}', true, ''`,
        [ada.organization],
      ),
    ).rejects.toThrow("row-level security");
    expect(await find(ada, fact.id)).toMatchObject({ text: "only for Ada" });
  });

  it("shows nothing to somebody without organization", async () => {
    await write(newcomer(), "for everybody", { scope: "team" });
    const nobody = { organization: "", principal: "", project: "", mayWriteTeamFacts: false };
    expect(await holds(nobody, "everybodi")).toEqual([]);
  });

  it("holds for a service whose own role is no superuser", async () => {
    const name = `test_owner_${randomUUID().slice(0, 8)}`;
    await test.database.query(`CREATE ROLE ${name} LOGIN PASSWORD 'own'`);
    await test.database.query(`GRANT hlvm_memory_viewer TO ${name}`);
    await test.database.query(`CREATE DATABASE ${name} OWNER ${name}`);
    const own = new Database(test.url.replace(/\/\/[^@]*@\/[^?]*/, `//${name}:own@/${name}`), testLog);
    await migrate(own, MIGRATIONS);
    const ada = newcomer();
    const bob: Viewer = { ...ada, principal: "user:bob" };
    const owned = new PostgresFactStore(own, () => undefined);
    await write(ada, "personal to Ada", { scope: "personal" }, owned);
    expect(await holds(ada, "person", owned)).toHaveLength(1);
    expect(await holds(bob, "person", owned)).toEqual([]);
    expect(await own.query("SELECT FROM fact JOIN outbox USING (fact_id)")).toHaveLength(1);
    await own.close();
    await test.database.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await test.database.query(`DROP ROLE ${name}`);
  });

  it("lets team facts be made and changed by those alone who may", async () => {
    const ada = newcomer();
    const { fact } = await write(ada, "Releases go out on Tuesdays", { scope: "team" });
    const bob = { ...ada, principal: "user:bob", mayWriteTeamFacts: false };
    expect((await write(bob, "Releases go out daily", { scope: "team" })).fact).toMatchObject({ proposal: "waiting" });
    await expect(store.inScope(bob, (facts) => removeFact(facts, bob, fact.id, PERSON))).rejects.toMatchObject({
      reason: "team_fact_refused",
    });
  });

  it("refuses a project's fact outside a project", async () => {
    const outside = { ...newcomer(), project: "" };
    await expect(write(outside, "Builds with make", { scope: "project" })).rejects.toMatchObject({ reason: "project_missing" });
    expect((await write(outside, "Builds with make")).fact.scope).toBe("personal");
  });
});

describe("editing", () => {
  const editor = { origin: "user-stated", sourceSessionId: "" } as const;

  it("puts a corrected text in a fact's place and keeps the rest of it", async () => {
    const ada = newcomer();
    const { fact: old } = await write(ada, "CI takes 5 minutes", {
      category: "ci",
      tags: ["slow"],
      subject: "ci",
      predicate: "duration",
      pinned: true,
    });
    const { fact } = await store.inScope(ada, (facts) => replaceFact(facts, ada, old.id, "CI takes 9 minutes", editor));
    expect(fact).toMatchObject({ text: "CI takes 9 minutes", category: "ci", tags: ["slow"], predicate: "duration", pinned: true });
    expect(await find(ada, old.id)).toMatchObject({ supersededBy: fact.id });
    await expect(store.inScope(ada, (facts) => replaceFact(facts, ada, old.id, "again", editor))).rejects.toMatchObject({
      reason: "fact_ended",
      message: expect.stringContaining(fact.id),
    });
  });

  it("trusts a correction no further than the one who makes it", async () => {
    const ada = newcomer();
    const { fact: old } = await write(ada, "Use tabs");
    const { fact } = await store.inScope(ada, (facts) =>
      replaceFact(facts, ada, old.id, "Use tabs!", { ...editor, origin: "model-inferred" }),
    );
    expect(fact).toMatchObject({ text: "Use tabs!", origin: "model-inferred" });
  });

  it("joins a fact that says the same already", async () => {
    const ada = newcomer();
    const { fact: known } = await write(ada, "Deploys need approval");
    const { fact: wrong } = await write(ada, "Deploys need no approval");
    const { fact } = await store.inScope(ada, (facts) => replaceFact(facts, ada, wrong.id, "Deploys need approval", editor));
    expect(fact.id).toBe(known.id);
    expect(await holds(ada, "approv")).toEqual([known.id]);
  });

  it("takes its turn where the same slot is written at the same time", async () => {
    const ada = newcomer();
    const slot = { subject: "ci", predicate: "duration" };
    const { fact: old } = await write(ada, "CI takes 5 minutes", slot);
    const locked = Promise.withResolvers<void>();
    const somebodyWaits = (): Promise<unknown[]> =>
      test.database.query(
        "SELECT FROM pg_locks JOIN pg_database ON oid = database WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted",
      );
    const writing = store.inScope(ada, async (facts) => {
      await facts.lock(audienceOf(ada.organization, old));
      locked.resolve();
      await expect.poll(somebodyWaits, { timeout: 10_000 }).toHaveLength(1);
      return writeFact(facts, ada, draftOf("CI takes 9 minutes", slot));
    });
    await locked.promise;
    const replacing = store.inScope(ada, (facts) => replaceFact(facts, ada, old.id, "CI takes 7 minutes", editor));
    const [written, replaced] = await Promise.allSettled([writing, replacing]);
    expect(written).toMatchObject({ status: "fulfilled", value: { superseded: [{ id: old.id }] } });
    expect(replaced).toMatchObject({ status: "rejected", reason: { reason: "fact_ended" } });
  });

  it("ends a removed fact", async () => {
    const ada = newcomer();
    const { fact } = await write(ada, "Staging is down");
    expect(await store.inScope(ada, (facts) => removeFact(facts, ada, fact.id, PERSON))).toMatchObject({
      validTo: expect.any(Date),
      supersededBy: "",
    });
    expect(await holds(ada, "stage")).toEqual([]);
  });
});
