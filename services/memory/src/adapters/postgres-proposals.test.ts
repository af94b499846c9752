import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { acceptProposal, rejectProposal } from "../domain/decide-proposal.ts";
import type { ScopedFacts } from "../domain/fact-store.ts";
import { pinFact } from "../domain/pin-fact.ts";
import { removeFact } from "../domain/remove-fact.ts";
import { PERSON, replaceFact, type Editor } from "../domain/replace-fact.ts";
import { undoChange } from "../domain/undo-change.ts";
import type { Viewer } from "../domain/viewer.ts";
import { writeFact, type FactDraft } from "../domain/write-fact.ts";
import { draftOf } from "../testing/draft-of.ts";
import { newcomer } from "../testing/newcomer.ts";
import { PostgresFactStore } from "./postgres-fact-store.ts";

const MODEL: Editor = { origin: "model-inferred", sourceSessionId: "s" };
const PORT = { subject: "service", predicate: "port" };

let test: TestDatabase;
let store: PostgresFactStore;
beforeAll(async () => {
  test = await createTestDatabase(fileURLToPath(new URL("../../migrations", import.meta.url)));
  store = new PostgresFactStore(test.database, () => undefined);
});
afterAll(() => test.drop());

const as = <T>(viewer: Viewer, work: (facts: ScopedFacts) => Promise<T>) => store.inScope(viewer, work);
const write = async (viewer: Viewer, text: string, draft: Partial<FactDraft> = {}) =>
  (await as(viewer, (facts) => writeFact(facts, viewer, draftOf(text, draft)))).fact;
const infer = (viewer: Viewer, text: string, draft: Partial<FactDraft> = {}) => write(viewer, text, { ...draft, ...MODEL });
const find = (viewer: Viewer, id: string) => as(viewer, (facts) => facts.find(id));
const inbox = (viewer: Viewer) => as(viewer, (facts) => facts.proposals.waiting(undefined, 50));
const accept = (viewer: Viewer, id: string) => as(viewer, (facts) => acceptProposal(facts, viewer, id));
const reject = (viewer: Viewer, id: string) => as(viewer, (facts) => rejectProposal(facts, viewer, id));
const undo = (viewer: Viewer, id: string) => as(viewer, (facts) => undoChange(facts, viewer, id));
const holding = async (viewer: Viewer, slot = PORT.subject) =>
  (await as(viewer, ({ history }) => history.facts(EVERYTHING, false, 100, undefined))).items
    .filter((fact) => fact.subject === slot)
    .map(({ text, pinned }) => [text, pinned]);
const EVERYTHING = {
  scope: undefined,
  origin: undefined,
  type: undefined,
  category: "",
  principal: "",
  since: undefined,
  until: undefined,
};

describe("what a model says of what is more to be trusted", () => {
  it.each([
    ["stated", {}, false],
    ["inferred and pinned", { origin: "model-inferred" }, true],
  ] as const)("never ends what was %s: it is proposed, once, and does not hold", async (_, draft, pinned) => {
    const ada = newcomer();
    const stated = await write(ada, "The service listens on port 80", { ...PORT, ...draft, pinned });
    const proposed = await infer(ada, "The service listens on port 666", PORT);
    expect(proposed).toMatchObject({ proposal: "waiting", proposalOf: stated.id, validTo: proposed.validFrom });
    expect(await infer(ada, "The service listens on port 666.", PORT)).toMatchObject({ id: proposed.id });
    const edited = await as(ada, (facts) => replaceFact(facts, ada, stated.id, "The service listens on port 667", MODEL));
    expect(edited).toMatchObject({ fact: { proposal: "waiting" }, superseded: [] });
    expect(await as(ada, (facts) => removeFact(facts, ada, stated.id, MODEL))).toMatchObject({ proposal: "waiting", proposesEnd: true });
    expect(await holding(ada)).toEqual([[stated.text, pinned]]);
    expect((await inbox(ada)).map(({ text }) => text.slice(-3))).toEqual(["666", "667", stated.text.slice(-3)]);
    expect(await as(ada, (facts) => facts.fullTextCandidates(["666"], 9))).toMatchObject({ ids: [] });
    await expect(as(ada, (facts) => pinFact(facts, ada, proposed.id, true))).rejects.toMatchObject({ reason: "fact_ended" });
  });

  it("cannot use a text that is known to end another fact", async () => {
    const ada = newcomer();
    const known = await write(ada, "Deploys need no approval");
    const stated = await write(ada, "Deploys need approval");
    await as(ada, (facts) => replaceFact(facts, ada, stated.id, known.text, MODEL));
    expect(await find(ada, stated.id)).toMatchObject({ validTo: undefined });
  });

  it("lets a person say the same with the last word, and keeps the pin", async () => {
    const ada = newcomer();
    await write(ada, "The service listens on port 80", { ...PORT, pinned: true });
    await write(ada, "The service listens on port 81", PORT);
    expect(await holding(ada)).toEqual([["The service listens on port 81", true]]);
  });

  it("replaces at once what a model inferred before", async () => {
    const ada = newcomer();
    await infer(ada, "The service listens on port 80", PORT);
    await infer(ada, "The service listens on port 81", PORT);
    expect([await holding(ada), await inbox(ada)]).toEqual([[["The service listens on port 81", false]], []]);
  });

  it("takes no more than somebody reads", async () => {
    const ada = newcomer();
    await write(ada, "The service listens on port 80", PORT);
    await test.database.query(
      `INSERT INTO fact (fact_id, organization, owner, project, scope, audience, text, text_key, stems, category, type, origin, subject, predicate,
         slot, tags, pinned, source_session_id, valid_to, proposal)
       SELECT gen_random_uuid(), organization, owner, project, scope, audience, text, n::text, stems, category, type, origin, subject, predicate,
         slot, tags, pinned, source_session_id, now(), 'waiting' FROM fact, generate_series(1, 200) AS n WHERE organization = $1`,
      [ada.organization],
    );
    await expect(infer(ada, "The service listens on port 81", PORT)).rejects.toMatchObject({ reason: "inbox_full" });
  });
});

describe("the inbox", () => {
  it("does what a person accepts, keeps origin and pin, and takes it back", async () => {
    const ada = newcomer();
    const stated = await write(ada, "The service listens on port 80", { ...PORT, pinned: true });
    const { id } = await infer(ada, "The service listens on port 81", PORT);
    const change = await accept(ada, id);
    expect(change).toMatchObject({ kind: "accepted", fact: { origin: "model-inferred", pinned: true, validatedAt: expect.any(Date) } });
    expect(await find(ada, stated.id)).toMatchObject({ supersededBy: change.fact.id });
    expect(await find(ada, id)).toMatchObject({ proposal: "accepted" });
    // What a person vouched for is theirs: the next inference proposes again.
    expect(await infer(ada, "The service listens on port 82", PORT)).toMatchObject({ proposal: "waiting" });
    await expect(accept(ada, id)).rejects.toMatchObject({ reason: "proposal_decided" });

    const undone = await undo(ada, change.id);
    expect(undone).toMatchObject({ kind: "undone", undoes: { kind: "accepted" } });
    expect(await holding(ada)).toEqual([[stated.text, true]]);
    expect((await inbox(ada)).map((proposal) => proposal.id)).toContain(id);
    await undo(ada, undone.id);
    expect(await holding(ada)).toEqual([["The service listens on port 81", true]]);
    expect(await find(ada, id)).toMatchObject({ proposal: "accepted" });
  });

  it("ends a fact where that was accepted, leaves it where it was rejected, and each is a change", async () => {
    const ada = newcomer();
    const stated = await write(ada, "The service listens on port 80", PORT);
    const remove = () => as(ada, (facts) => removeFact(facts, ada, stated.id, MODEL));
    const rejected = await reject(ada, (await remove()).id);
    expect([rejected.kind, await holding(ada)]).toEqual(["rejected", [[stated.text, false]]]);
    await accept(ada, (await remove()).id);
    expect(await holding(ada)).toEqual([]);
    const { items } = await as(ada, ({ history }) => history.changes(EVERYTHING, 50, undefined));
    expect(items.map(({ kind }) => kind)).toEqual(["accepted", "proposed", "rejected", "proposed", "written"]);
    const listed = await as(ada, ({ history }) => history.facts(EVERYTHING, true, 50, undefined));
    expect(listed.items.map(({ id }) => id)).toEqual([stated.id]);
  });

  it("holds what is said for the whole organization until an approver accepts it", async () => {
    const ada = newcomer();
    const bob: Viewer = { ...ada, principal: "user:bob", mayWriteTeamFacts: false };
    const byModel = await infer(ada, "Releases go out on Tuesdays", { scope: "team" });
    const byMember = await write(bob, "Releases need two reviews", { scope: "team" });
    expect([byModel.proposal, byMember.proposal]).toEqual(["waiting", "waiting"]);
    for (const decide of [accept, reject]) await expect(decide(bob, byMember.id)).rejects.toMatchObject({ reason: "team_fact_refused" });
    const { fact } = await accept(ada, byMember.id);
    expect(await find(bob, fact.id)).toMatchObject({ text: "Releases need two reviews", validTo: undefined });
    expect(await as(bob, (facts) => removeFact(facts, bob, fact.id, MODEL))).toMatchObject({ proposal: "waiting" });
  });

  it("is nobody else's", async () => {
    const ada = newcomer();
    await write(ada, "The service listens on port 80", { ...PORT, scope: "personal" });
    const { id } = await infer(ada, "The service listens on port 81", { ...PORT, scope: "personal" });
    for (const other of [
      { ...ada, principal: "user:bob" },
      { ...ada, organization: randomUUID() },
    ]) {
      expect(await inbox(other)).toEqual([]);
      for (const decide of [accept, reject]) await expect(decide(other, id)).rejects.toMatchObject({ reason: "proposal_not_found" });
    }
    await expect(accept(ada, (await write(ada, "no proposal")).id)).rejects.toMatchObject({ reason: "proposal_not_found" });
    await expect(as(ada, (facts) => removeFact(facts, ada, id, PERSON))).rejects.toMatchObject({ reason: "fact_ended" });
  });
});
