import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Database } from "@hlvm/postgres/database";
import { migrate } from "@hlvm/postgres/migrate";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { testLog } from "@hlvm/testing/test-log";
import { audienceOf } from "../domain/audience.ts";
import type { FactFilter, Place } from "../domain/fact-history.ts";
import type { ScopedFacts } from "../domain/fact-store.ts";
import { pinFact } from "../domain/pin-fact.ts";
import { removeFact } from "../domain/remove-fact.ts";
import { PERSON, replaceFact } from "../domain/replace-fact.ts";
import { undoChange } from "../domain/undo-change.ts";
import type { Viewer } from "../domain/viewer.ts";
import { writeFact, type FactDraft } from "../domain/write-fact.ts";
import { draftOf } from "../testing/draft-of.ts";
import { newcomer } from "../testing/newcomer.ts";
import { PostgresFactStore } from "./postgres-fact-store.ts";

const MIGRATIONS = fileURLToPath(new URL("../../migrations", import.meta.url));
const ALL: FactFilter = {
  scope: undefined,
  origin: undefined,
  type: undefined,
  category: "",
  principal: "",
  since: undefined,
  until: undefined,
};
const EDITOR = { origin: "user-stated", sourceSessionId: "" } as const;

let test: TestDatabase;
let store: PostgresFactStore;
beforeAll(async () => {
  test = await createTestDatabase(MIGRATIONS);
  store = new PostgresFactStore(test.database, () => undefined);
});
afterAll(() => test.drop());

const as = <T>(viewer: Viewer, work: (facts: ScopedFacts) => Promise<T>) => store.inScope(viewer, work);
const write = async (viewer: Viewer, text: string, draft: Partial<FactDraft> = {}) =>
  (await as(viewer, (facts) => writeFact(facts, viewer, draftOf(text, draft)))).fact;
const thread = (viewer: Viewer, id: string) => as(viewer, ({ history }) => history.threadOf(id, 50));
const undo = (viewer: Viewer, id: string) => as(viewer, (facts) => undoChange(facts, viewer, id));
const lastOf = async (viewer: Viewer, id: string) => (await thread(viewer, id))[0]!.id;
const changed = async (viewer: Viewer, filter: Partial<FactFilter> = {}) =>
  (await as(viewer, ({ history }) => history.changes({ ...ALL, ...filter }, 100, undefined))).items;
const listed = async (viewer: Viewer, filter: Partial<FactFilter> = {}, withEnded = false) =>
  (await as(viewer, ({ history }) => history.facts({ ...ALL, ...filter }, withEnded, 100, undefined))).items.map(({ text }) => text);

describe("history", () => {
  it("tells all that was done to a fact and what it replaced, by whom and from where", async () => {
    const ada = newcomer();
    const bob = { ...ada, principal: "user:bob", call: { sessionId: randomUUID(), runId: randomUUID(), callId: "call-7" } };
    const old = await write(ada, "CI takes 5 minutes", { subject: "ci", predicate: "duration" });
    await as(ada, (facts) => pinFact(facts, ada, old.id, true));
    await as(ada, (facts) => pinFact(facts, ada, old.id, true));
    const fact = await write(bob, "CI takes 9 minutes", { subject: "ci", predicate: "duration" });
    await as(ada, (facts) => removeFact(facts, ada, fact.id, PERSON));
    const expected = [
      { kind: "ended", principal: "user:ada", fact: { id: fact.id }, others: [], sessionId: "", callId: "" },
      { kind: "replaced", principal: "user:bob", fact: { id: fact.id }, others: [{ id: old.id, supersededBy: fact.id }], ...bob.call },
      { kind: "pinned", principal: "user:ada", fact: { id: old.id } },
      { kind: "written", principal: "user:ada", fact: { id: old.id } },
    ];
    for (const id of [old.id, fact.id]) expect(await thread(ada, id)).toMatchObject(expected);
    expect(await changed(ada)).toMatchObject(expected);
  });

  it("holds no change that the facts do not have, and lets no fact change without one", async () => {
    const ada = newcomer();
    const fact = await write(ada, "Staging is down");
    await expect(as(ada, (facts) => facts.end(fact.id, ""))).rejects.toThrow("fact_change_part_change_id_fkey");
    await expect(
      as(ada, async (facts) => {
        await removeFact(facts, ada, fact.id, PERSON);
        throw new Error("crashed");
      }),
    ).rejects.toThrow("crashed");
    expect(await listed(ada)).toEqual(["Staging is down"]);
    expect((await thread(ada, fact.id)).map(({ kind }) => kind)).toEqual(["written"]);
  });

  it("begins with what is known of facts that were there before it was kept", async () => {
    const early = mkdtempSync(join(tmpdir(), "hlvm-migrations-"));
    copyFileSync(join(MIGRATIONS, "0001_fact.sql"), join(early, "0001_fact.sql"));
    const name = `test_early_${randomUUID().slice(0, 8)}`;
    await test.database.query(`CREATE DATABASE ${name}`);
    const before = new Database(test.url.replace(/(@[^/]*\/)[^?]*/, `$1${name}`), testLog);
    await migrate(before, early);
    const ada = { ...newcomer(), organization: "acme" };
    const [known, old, joined, ended] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const rows = [
      [known, "known", "2026-01-02", null],
      [old, "old", "2026-01-01", "2026-01-02"],
      [joined, "joined", "2026-01-01", "2026-01-03"],
      [ended, "ended", "2026-01-01", "2026-01-04"],
    ];
    for (const [id, text, from, to] of rows)
      await before.query(
        `INSERT INTO fact (fact_id, organization, owner, project, scope, audience, text, text_key, stems, category, type, origin, subject, predicate,
           slot, tags, pinned, source_session_id, valid_from, valid_to, superseded_by)
         VALUES ($1, 'acme', 'user:ada', '', 'personal', $2, $3, $3, $3, '', 'user', 'user-stated', '', '', '', '{}', false, '', $4, $5, NULL)`,
        [id, audienceOf("acme", { scope: "personal", owner: "user:ada", project: "" }), text, from, to],
      );
    await before.query("UPDATE fact SET superseded_by = $1 WHERE fact_id = ANY($2::uuid[])", [known, [old, joined]]);
    await migrate(before, MIGRATIONS);
    const facts = new PostgresFactStore(before, () => undefined);
    const { items } = await facts.inScope(ada, ({ history }) => history.changes(ALL, 50, undefined));
    expect(items.map(({ kind, principal, fact, others }) => [kind, principal, fact.text, others.map(({ text }) => text)])).toEqual([
      ["ended", "", "ended", []],
      ["replaced", "", "known", ["joined"]],
      ["replaced", "user:ada", "known", ["old"]],
      ["written", "user:ada", expect.stringMatching(/^(ended|joined|old)$/), []],
      ["written", "user:ada", expect.any(String), []],
      ["written", "user:ada", expect.any(String), []],
    ]);
    await facts.inScope(ada, (scoped) => undoChange(scoped, ada, items[0]!.id));
    const now = await facts.inScope(ada, ({ history }) => history.facts(ALL, false, 50, undefined));
    expect(now.items.map(({ text }) => text)).toEqual(["known", "ended"]);
    await before.close();
    await test.database.query(`DROP DATABASE ${name} WITH (FORCE)`);
    rmSync(early, { recursive: true });
  });
});

describe("undo", () => {
  it("takes back whatever was done last, and itself", async () => {
    const ada = newcomer();
    const slot = { subject: "ci", predicate: "duration" };
    const old = await write(ada, "CI takes 5 minutes", slot);
    const fact = await as(ada, async (facts) => (await replaceFact(facts, ada, old.id, "CI takes 9 minutes", EDITOR)).fact);
    const undone = await undo(ada, await lastOf(ada, fact.id));
    expect(undone).toMatchObject({ kind: "undone", undoes: { kind: "replaced" }, fact: { id: fact.id }, others: [{ id: old.id }] });
    expect(await listed(ada)).toEqual(["CI takes 5 minutes"]);
    await undo(ada, undone.id);
    expect(await listed(ada)).toEqual(["CI takes 9 minutes"]);
    expect(await as(ada, (facts) => facts.find(old.id))).toMatchObject({ supersededBy: fact.id, validTo: expect.any(Date) });

    await as(ada, (facts) => pinFact(facts, ada, fact.id, true));
    await undo(ada, await lastOf(ada, fact.id));
    expect(await as(ada, (facts) => facts.find(fact.id))).toMatchObject({ pinned: false });
    await as(ada, (facts) => removeFact(facts, ada, fact.id, PERSON));
    await undo(ada, await lastOf(ada, fact.id));
    expect(await listed(ada)).toEqual(["CI takes 9 minutes"]);
    const other = await write(ada, "Something wrong");
    await undo(ada, await lastOf(ada, other.id));
    expect(await listed(ada)).toEqual(["CI takes 9 minutes"]);
    expect((await as(ada, (facts) => facts.fullTextCandidates(["minut"], 9))).ids).toEqual([fact.id]);
  });

  it("loses no later change: what was done since has to be undone first, and of two at once one wins", async () => {
    const ada = newcomer();
    const fact = await write(ada, "Use tabs");
    const writing = await lastOf(ada, fact.id);
    await as(ada, (facts) => pinFact(facts, ada, fact.id, true));
    await expect(undo(ada, writing)).rejects.toMatchObject({ reason: "fact_changed_since", message: expect.stringContaining("user:ada") });
    expect(await listed(ada)).toEqual(["Use tabs"]);
    const pinning = await lastOf(ada, fact.id);
    const both = await Promise.allSettled([undo(ada, pinning), undo(ada, pinning)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    await expect(undo(ada, randomUUID())).rejects.toMatchObject({ reason: "fact_change_not_found" });

    // Somebody of an earlier version, which records nothing.
    await test.database.query("UPDATE fact SET valid_to = now() WHERE fact_id = $1", [fact.id]);
    await expect(undo(ada, await lastOf(ada, fact.id))).rejects.toMatchObject({ reason: "fact_changed_since" });
  });

  it.each([
    ["the same text", "Deploys need approval.", {}],
    ["another fact of the same subject and predicate", "Nobody approves deploys", { subject: "deploy", predicate: "approval" }],
  ])("does not put a fact beside %s", async (_, text, slot) => {
    const ada = newcomer();
    const fact = await write(ada, "Deploys need approval", slot);
    await as(ada, (facts) => removeFact(facts, ada, fact.id, PERSON));
    await write(ada, text, slot);
    await expect(undo(ada, await lastOf(ada, fact.id))).rejects.toMatchObject({ reason: "fact_slot_taken" });
    expect(await listed(ada)).toEqual([text]);
  });

  it("is for those alone who may change the fact", async () => {
    const ada = newcomer();
    const fact = await write(ada, "Releases go out on Tuesdays", { scope: "team" });
    const last = await lastOf(ada, fact.id);
    const bob = { ...ada, principal: "user:bob", mayWriteTeamFacts: false };
    await expect(undo(bob, last)).rejects.toMatchObject({ reason: "team_fact_refused" });
    const personal = await write(ada, "only for Ada", { scope: "personal" });
    await expect(undo(bob, await lastOf(ada, personal.id))).rejects.toMatchObject({ reason: "fact_change_not_found" });
  });
});

describe("lists", () => {
  it("show nobody what is not theirs to see: another's personal facts, another project, another organization", async () => {
    const ada = newcomer();
    const bob: Viewer = { ...ada, principal: "user:bob" };
    const elsewhere: Viewer = { ...ada, project: "/src/other" };
    const stranger: Viewer = { ...ada, organization: randomUUID() };
    for (const scope of ["personal", "project", "team"] as const) {
      const { id } = await write(ada, scope, { scope });
      await as(ada, (facts) => pinFact(facts, ada, id, true));
      for (const viewer of [bob, elsewhere, stranger]) {
        const sees = (viewer === bob && scope !== "personal") || (viewer === elsewhere && scope !== "project");
        expect(await thread(viewer, id)).toHaveLength(sees ? 2 : 0);
        expect((await listed(viewer)).includes(scope)).toBe(sees);
        expect((await changed(viewer)).filter(({ fact }) => fact.id === id)).toHaveLength(sees ? 2 : 0);
      }
    }
    expect(await as(bob, ({ history }) => history.heads())).toEqual(["0", "2", "2"]);
    expect(await as(stranger, ({ history }) => history.heads())).toEqual(["0", "0", "0"]);
    const asBob = (sql: string) =>
      test.database.transaction(async (queries) => {
        await queries.query("SELECT enter_scope($1, $2, $3)", [bob.organization, bob.principal, bob.project]);
        return queries.query(sql);
      });
    expect(await asBob("SELECT FROM fact_change")).toHaveLength(4);
    expect(await asBob("SELECT FROM fact_change_part")).toHaveLength(4);
    for (const table of ["fact_change", "fact_change_part"]) {
      await expect(asBob(`UPDATE ${table} SET change_id = change_id`)).rejects.toThrow("permission denied");
      await expect(asBob(`DELETE FROM ${table}`)).rejects.toThrow("permission denied");
    }
  });

  it("are narrowed by every filter", async () => {
    const ada = newcomer();
    const bob: Viewer = { ...ada, principal: "user:bob" };
    const plain = await write(ada, "plain", { scope: "personal", category: "ci" });
    const middle = new Date(Date.now() - 1_800_000);
    for (const [name, time] of [
      ["fact", "valid_from"],
      ["fact_change", "changed_at"],
    ] as const)
      await test.database.query(`UPDATE ${name} SET ${time} = ${time} - interval '1 hour' WHERE fact_id = $1`, [plain.id]);
    await write(bob, "inferred", { scope: "project", origin: "model-inferred", type: "reference" });
    const gone = await write(ada, "gone", { scope: "project" });
    await as(bob, (facts) => removeFact(facts, bob, gone.id, PERSON));
    expect(await listed(ada)).toEqual(["inferred", "plain"]);
    expect(await listed(ada, {}, true)).toEqual(["gone", "inferred", "plain"]);
    for (const [filter, facts, changes] of [
      [{ scope: "personal" }, ["plain"], ["plain"]],
      [{ scope: "project" }, ["gone", "inferred"], ["gone", "gone", "inferred"]],
      [{ origin: "model-inferred" }, ["inferred"], ["inferred"]],
      [{ type: "reference" }, ["inferred"], ["inferred"]],
      [{ category: "ci" }, ["plain"], ["plain"]],
      [{ principal: "user:bob" }, ["inferred"], ["gone", "inferred"]],
      [{ since: middle }, ["gone", "inferred"], ["gone", "gone", "inferred"]],
      [{ until: middle }, ["plain"], ["plain"]],
    ] satisfies [Partial<FactFilter>, string[], string[]][]) {
      expect([filter, await listed(ada, filter, true)]).toEqual([filter, facts]);
      expect([filter, (await changed(ada, filter)).map(({ fact }) => fact.text)]).toEqual([filter, changes]);
      const { changes: after } = await as(ada, ({ history }) => history.changesAfter({ ...ALL, ...filter }, ["0", "0", "0"], 100));
      expect([filter, after.map(({ fact }) => fact.text)]).toEqual([filter, changes.toReversed()]);
    }
  });

  it("give every fact and every change once, over pages and audiences, also where times are the same", async () => {
    const ada = newcomer();
    for (let n = 0; n < 7; n++) await write(ada, `fact ${n}`, { scope: (["team", "personal", "project"] as const)[n % 3] });
    await test.database.query("UPDATE fact SET valid_from = '2026-01-01T00:00:00.123456Z' WHERE organization = $1", [ada.organization]);
    await test.database.query(
      "UPDATE fact_change SET changed_at = fact.valid_from FROM fact WHERE fact.fact_id = fact_change.fact_id AND fact.organization = $1",
      [ada.organization],
    );
    for (const kind of ["facts", "changes"] as const) {
      const seen: string[] = [];
      let before: Place | undefined;
      do {
        const place = before;
        const page = await as(ada, async ({ history }) =>
          kind === "facts" ? await history.facts(ALL, false, 3, place) : await history.changes(ALL, 3, place),
        );
        expect(page.items.length).toBeLessThanOrEqual(3);
        seen.push(...page.items.map((item) => ("fact" in item ? item.fact.text : item.text)));
        before = page.end;
      } while (before !== undefined);
      expect(seen.toSorted()).toEqual(Array.from({ length: 7 }, (_, n) => `fact ${n}`));
    }
  });

  it("are read on behind the last change without a gap, however many write at once", async () => {
    const ada = newcomer();
    const told: string[] = [];
    let heads = await as(ada, ({ history }) => history.heads());
    const writing = Promise.all(
      Array.from({ length: 12 }, (_, n) => write(ada, `fact ${n}`, { scope: (["team", "personal", "project"] as const)[n % 3] })),
    );
    let isWritten = false;
    const end = writing.then(() => (isWritten = true));
    for (;;) {
      const isLast = isWritten;
      const from = heads;
      const found = await as(ada, ({ history }) => history.changesAfter(ALL, from, 2));
      heads = found.heads;
      told.push(...found.changes.map(({ fact }) => fact.text));
      if (isLast && found.changes.length === 0) break;
    }
    await end;
    expect(told.toSorted()).toEqual(Array.from({ length: 12 }, (_, n) => `fact ${n}`).toSorted());
  });
});
