import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createClient, type Client } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import type { Principal, Role } from "@hlvm/identity/principal";
import { RevisionState, WikiScope, WikiService } from "@hlvm/proto/hlvm/memory/v1/wiki_pb";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { PostgresPersonalData } from "../adapters/postgres-personal-data.ts";
import { PostgresProjects } from "../adapters/postgres-projects.ts";
import { PostgresWiki } from "../adapters/postgres-wiki.ts";
import { fillSearch } from "../adapters/search-filler.ts";
import { wikiTool } from "../domain/wiki-tools.ts";
import { wikiMethods } from "./wiki.ts";

const PROJECT = "/src/engine";
const PAGE =
  "---\ntitle: Roll back\nsummary: How a release is taken back\ntags: [deploy]\n---\nRun the lever, then see [[deploy/checks]].\n";
let test: TestDatabase;
let server: RpcServer;
let client: Client<typeof WikiService>;
let identity: Awaited<ReturnType<typeof createTestIdentity>>;
let wiki: PostgresWiki;

beforeAll(async () => {
  test = await createTestDatabase(fileURLToPath(new URL("../../migrations", import.meta.url)));
  identity = await createTestIdentity();
  wiki = new PostgresWiki(test.database);
  server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    routes: (router) => router.service(WikiService, wikiMethods({ wiki, projects: new PostgresProjects(test.database) })),
    services: [WikiService.typeName],
    authenticate: identity.verifier("memory"),
  });
  client = createClient(WikiService, createMeshTransport(`http://127.0.0.1:${server.port}`));
});
afterAll(async () => {
  await server.close();
  await test.drop();
});

const person = (name: string, roles: readonly Role[] = ["developer"], organization = "acme"): Principal => ({
  ...testPrincipal,
  id: `user:${name}`,
  roles,
  organization,
});
const callOf = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const as = (name: string, roles?: readonly Role[], organization?: string) =>
  callOf(identity.minter.mint(person(name, roles, organization), "memory"));
const reasonOf = async (call: Promise<unknown>) => fromConnectError(await call.catch((thrown: unknown) => thrown)).reason;
const page = (name: string, content = PAGE, base = 0) => ({ project: PROJECT, name, content, base });
/** What a run writes for this person. */
async function proposed(
  name: string,
  given: { readonly name: string; readonly content: string; readonly base: number },
  callId = randomUUID(),
) {
  await client.listWikiPages({ project: PROJECT }, as(name));
  const [row] = await test.database.query<{ project_id: string }>("SELECT project_id FROM project_member WHERE principal = $1", [
    `user:${name}`,
  ]);
  const call = { sessionId: "5e551011-0000-4000-8000-000000000001", runId: randomUUID(), callId };
  const viewer = { organization: "acme", principal: `user:${name}`, project: row!.project_id, mayWriteTeamFacts: true, call };
  await wikiTool("wiki_write", wiki, viewer, { ...given, reason: "it was missing" });
  const { revisions } = await client.listWikiRevisions({ project: PROJECT, name: given.name, state: RevisionState.WAITING }, as(name));
  return revisions;
}

describe("writing a page", () => {
  it("publishes what a person writes, with what its front matter says of it, and each revision stays", async () => {
    const ada = as("writer");
    const { revision } = await client.writeWikiPage(page("deploy/roll-back"), ada);
    expect(revision).toMatchObject({ number: 1, state: RevisionState.PUBLISHED, scope: WikiScope.PROJECT });
    await client.writeWikiPage(page("deploy/roll-back", "# Take it back\nPull the lever.", 1), ada);
    const read = (await client.getWikiPage({ project: PROJECT, name: "deploy/roll-back" }, ada)).page;
    expect(read).toMatchObject({ number: 2, title: "Take it back", content: "# Take it back\nPull the lever." });
    const { revisions } = await client.listWikiRevisions({ project: PROJECT, name: "deploy/roll-back" }, ada);
    expect(revisions.map(({ number }) => number)).toEqual([2, 1]);
    const first = await client.getWikiRevision({ project: PROJECT, revisionId: revisions[1]!.revisionId }, ada);
    expect(first.revision!.content).toBe(PAGE.trim());
    expect((await client.listWikiPages({ project: PROJECT }, ada)).pages).toMatchObject([{ title: "Take it back", content: "" }]);
  });

  it("refuses what was written on another revision than the present one, and of two at once one", async () => {
    const ada = as("racer");
    await client.writeWikiPage(page("race"), ada);
    expect(await reasonOf(client.writeWikiPage(page("race", "Mine", 0), ada))).toBe("wiki_page_changed");
    const both = await Promise.all(["One", "Two"].map((text) => reasonOf(client.writeWikiPage(page("race", text, 1), ada))));
    expect(both.filter((reason) => reason === "wiki_page_changed")).toHaveLength(1);
  });

  it("removes a page, which can be written anew on revision 0", async () => {
    const ada = as("remover");
    await client.writeWikiPage(page("gone"), ada);
    await client.writeWikiPage({ ...page("gone", "", 1), removes: true }, ada);
    expect(await reasonOf(client.getWikiPage({ project: PROJECT, name: "gone" }, ada))).toBe("wiki_page_not_found");
    expect((await client.searchWiki({ project: PROJECT, query: "lever" }, ada)).found).toEqual([]);
    expect((await client.writeWikiPage(page("gone"), ada)).revision).toMatchObject({ number: 3 });
  });

  it.each(["", "../etc", "Upper", "a//b", "/a", "a/", "a b", "a.md", "-a", `${"a/".repeat(5)}a`, "ä"])(
    "refuses the name %j",
    async (name) => {
      expect(await reasonOf(client.writeWikiPage(page(name), as("namer")))).toBe("wiki_name_malformed");
      expect((await client.listWikiPages({ project: PROJECT }, as("namer"))).pages).toEqual([]);
    },
  );

  it.each([
    ["a list that does not end", "---\ntitle: [a\n---\nx", "wiki_front_matter_malformed"],
    ["a title that is no text", "---\ntitle: {}\n---\nx", "wiki_front_matter_malformed"],
    ["aliases", "---\na: &a [x]\nb: [*a, *a]\n---\nx", "wiki_front_matter_malformed"],
    ["front matter without an end", `---\n${"a: b\n".repeat(4_000)}`, "wiki_front_matter_malformed"],
    ["nothing below it", "---\ntitle: Nothing\n---\n \n", "wiki_page_empty"],
    ["what nobody sees", "\u200b", "wiki_page_empty"],
  ])("refuses %s", async (_what, content, reason) => {
    expect(await reasonOf(client.writeWikiPage(page("bad", content), as("careless")))).toBe(reason);
  });

  it("keeps neither secrets nor what hides", async () => {
    const ada = as("leaker");
    await client.writeWikiPage(page("keys", `Use ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)} and re\u202ead`), ada);
    const { content } = (await client.getWikiPage({ project: PROJECT, name: "keys" }, ada)).page!;
    expect(content).toContain("[secret: GitHub token]");
    expect(content).not.toMatch(/\u202e|ghp_/);
  });
});

describe("what a run writes", () => {
  it("waits until a person approves it, and is then what the page says", async () => {
    const ada = as("keeper");
    const [waiting] = await proposed("keeper", page("built-by-runs"));
    expect(await reasonOf(client.getWikiPage({ project: PROJECT, name: "built-by-runs" }, ada))).toBe("wiki_page_not_found");
    expect((await client.searchWiki({ project: PROJECT, query: "lever" }, ada)).found).toEqual([]);
    const shown = await client.getWikiRevision({ project: PROJECT, revisionId: waiting!.revisionId }, ada);
    expect(shown).toMatchObject({ mayDecide: true, baseContent: "", revision: { reason: "it was missing" } });
    const decided = await client.approveWikiRevision({ project: PROJECT, revisionId: waiting!.revisionId }, ada);
    expect(decided.revision).toMatchObject({ number: 1, decidedBy: "user:keeper", writtenBy: "user:keeper" });
    expect((await client.getWikiPage({ project: PROJECT, name: "built-by-runs" }, ada)).page!.content).toBe(PAGE.trim());
    expect(await reasonOf(client.approveWikiRevision({ project: PROJECT, revisionId: waiting!.revisionId }, ada))).toBe(
      "wiki_revision_decided",
    );
  });

  it("is written once where the call is made again", async () => {
    const callId = randomUUID();
    await proposed("again", page("twice"), callId);
    expect(await proposed("again", page("twice"), callId)).toHaveLength(1);
  });

  it("cannot be approved once the page says something else", async () => {
    const ada = as("overtaken");
    const [waiting] = await proposed("overtaken", page("overtaken"));
    await client.writeWikiPage(page("overtaken", "A person was faster."), ada);
    expect(await reasonOf(client.approveWikiRevision({ project: PROJECT, revisionId: waiting!.revisionId }, ada))).toBe(
      "wiki_page_changed",
    );
    const rejected = await client.rejectWikiRevision({ project: PROJECT, revisionId: waiting!.revisionId }, ada);
    expect(rejected.revision).toMatchObject({ state: RevisionState.REJECTED, decidedBy: "user:overtaken" });
  });

  it("cannot be written, approved or rejected by a run in the person's name", async () => {
    const [waiting] = await proposed("victim", page("self-made"));
    const run = callOf(identity.mintForRun({ principal: person("victim", ["admin"]) }, "memory"));
    const named = { project: PROJECT, revisionId: waiting!.revisionId };
    const calls = [client.writeWikiPage(page("x"), run), client.approveWikiRevision(named, run), client.rejectWikiRevision(named, run)];
    expect(await Promise.all(calls.map(reasonOf))).toEqual(["person_needed", "person_needed", "person_needed"]);
  });

  it("waits no more than 50 times for one person", async () => {
    for (let at = 0; at < 50; at++) await proposed("flood", page(`page-${at}`));
    await expect(proposed("flood", page("one-more"))).rejects.toMatchObject({ reason: "wiki_too_many_waiting" });
  });
});

describe("whose pages", () => {
  it("are a project's: nobody else sees them, their revisions or their words", async () => {
    await client.writeWikiPage(page("hidden"), as("insider"));
    const { revisions } = await client.listWikiRevisions({ project: PROJECT }, as("insider"));
    for (const other of [as("outsider"), as("outsider", ["admin"]), as("insider", ["developer"], "other")]) {
      expect((await client.listWikiPages({ project: PROJECT }, other)).pages).toEqual([]);
      expect((await client.searchWiki({ project: PROJECT, query: "lever" }, other)).found).toEqual([]);
      expect((await client.listWikiRevisions({ project: PROJECT }, other)).revisions).toEqual([]);
      const named = { project: PROJECT, revisionId: revisions[0]!.revisionId };
      expect(await reasonOf(client.getWikiRevision(named, other))).toBe("wiki_revision_not_found");
      expect(await reasonOf(client.approveWikiRevision(named, other))).toBe("wiki_revision_not_found");
    }
  });

  it("are the organization's: a member proposes and an approver decides, without a project too", async () => {
    const team = { name: "handbook", content: PAGE, scope: WikiScope.TEAM };
    const { revision } = await client.writeWikiPage(team, as("member", ["developer"], "club"));
    expect(revision!.state).toBe(RevisionState.WAITING);
    const named = { revisionId: revision!.revisionId };
    expect(await reasonOf(client.approveWikiRevision(named, as("member", ["developer"], "club")))).toBe("wiki_refused");
    await client.approveWikiRevision(named, as("boss", ["approver"], "club"));
    expect((await client.getWikiPage({ name: "handbook" }, as("reader", ["developer"], "club"))).page!.title).toBe("Roll back");
    await client.writeWikiPage(page("handbook", "# Ours", 0), as("reader", ["developer"], "club"));
    const ours = await client.getWikiPage({ project: PROJECT, name: "handbook" }, as("reader", ["developer"], "club"));
    expect(ours.page!.title).toBe("Ours");
    expect(await reasonOf(client.writeWikiPage({ name: "x", content: "y", scope: WikiScope.PROJECT }, as("reader", [], "club")))).toBe(
      "wiki_no_project",
    );
  });
});

it("finds pages by their words, best first, by the part that was asked for, after another release cut them, too", async () => {
  const ada = as("searcher");
  await client.writeWikiPage(page("long", `${"lorem ipsum ".repeat(900)}the zeppelin hangar ${"dolor ".repeat(900)}`), ada);
  await client.writeWikiPage(page("short", "A zeppelin lands here, near the hangar."), ada);
  await test.database.query("UPDATE search_item SET terms_version = 0, terms = '{}', counts = '{}' WHERE kind = 'page'");
  expect((await client.searchWiki({ project: PROJECT, query: "zeppelin hangar" }, ada)).found).toEqual([]);
  await fillSearch(test.database, testLog);
  const { found } = await client.searchWiki({ project: PROJECT, query: "zeppelin hangar" }, ada);
  expect(found.map((one) => one.page!.name)).toEqual(["short", "long"]);
  expect(found[1]!.page!.content).toContain("zeppelin");
  expect(found[1]!.page!.content.length).toBeLessThan(610);
});

it("tells of broken links, ended facts, missing heads, unlinked pages and equal titles", async () => {
  const ada = as("linter");
  const fact = randomUUID();
  await client.writeWikiPage(page("index", `${PAGE}See [the other](other.md), [web](https://x.test/a.md) and fact:${fact}.`), ada);
  await client.writeWikiPage(page("other", "# Other"), ada);
  await client.writeWikiPage(page("third", "---\ntitle: other\n---\nNobody links here."), ada);
  const [member] = await test.database.query<{ project_id: string }>(
    "SELECT project_id FROM project_member WHERE principal = 'user:linter'",
  );
  await test.database.query(
    `INSERT INTO fact (fact_id, organization, owner, project, scope, audience, text, text_key, stems, category, type, origin, subject,
       predicate, slot, tags, pinned, source_session_id, valid_from, valid_to)
     VALUES ($1, 'acme', 'user:linter', $2, 'project', 'a', 't', 'k', '', '', 'project', 'user-stated', '', '', '', '{}', false, '', now(), now())`,
    [fact, member!.project_id],
  );
  const { findings } = await client.lintWiki({ project: PROJECT }, ada);
  expect(findings.map(({ name, rule, line }) => `${name}:${line} ${rule}`)).toEqual([
    "index:6 broken-link",
    "index:7 ended-fact",
    "other:0 no-front-matter",
    "other:0 same-title",
    "third:0 no-summary",
    "third:0 same-title",
    "third:0 no-link-to-it",
  ]);
});

it("is part of a person's export, and stays without their name where they are erased", async () => {
  await client.writeWikiPage(page("kept"), as("leaver"));
  const personal = new PostgresPersonalData(test.database, () => undefined);
  const leaver = { organization: "acme", principal: "user:leaver" };
  expect((await personal.exportPage(leaver, "")).records.map(({ kind }) => kind)).toContain("wiki_revision");
  expect((await personal.erase(leaver)).get("shared_revisions")).toBe(1);
  expect(await test.database.query("SELECT FROM wiki_revision WHERE 'user:leaver' IN (written_by, decided_by)")).toEqual([]);
});
