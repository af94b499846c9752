import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { createClient, type Client } from "@connectrpc/connect";
import fastCheck from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { EntityKind, ThreadService, type GetThreadResponse } from "@hlvm/proto/hlvm/memory/v1/thread_pb";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { fillEntities } from "../adapters/entity-filler.ts";
import { PostgresFactStore } from "../adapters/postgres-fact-store.ts";
import { PostgresPersonalData } from "../adapters/postgres-personal-data.ts";
import { PostgresProjects } from "../adapters/postgres-projects.ts";
import { PostgresThreads } from "../adapters/postgres-threads.ts";
import { PostgresTranscripts } from "../adapters/postgres-transcripts.ts";
import { PostgresUsageLog } from "../adapters/postgres-usage-log.ts";
import { pinFact } from "../domain/pin-fact.ts";
import { projectNamed } from "../domain/projects.ts";
import { PERSON, replaceFact } from "../domain/replace-fact.ts";
import type { Turn } from "../domain/transcripts/transcript-store.ts";
import type { Viewer } from "../domain/viewer.ts";
import { writeFact, type FactDraft } from "../domain/write-fact.ts";
import { draftOf } from "../testing/draft-of.ts";
import { threadMethods } from "./threads.ts";

let test: TestDatabase;
let server: RpcServer;
let client: Client<typeof ThreadService>;
let identity: Awaited<ReturnType<typeof createTestIdentity>>;
let store: PostgresFactStore;
let projects: PostgresProjects;
let transcripts: PostgresTranscripts;

beforeAll(async () => {
  test = await createTestDatabase(fileURLToPath(new URL("../../migrations", import.meta.url)));
  identity = await createTestIdentity();
  store = new PostgresFactStore(test.database, () => undefined);
  projects = new PostgresProjects(test.database);
  transcripts = new PostgresTranscripts(test.database);
  server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    routes: (router) => router.service(ThreadService, threadMethods({ threads: new PostgresThreads(test.database), projects })),
    services: [ThreadService.typeName],
    authenticate: identity.verifier("memory"),
  });
  client = createClient(ThreadService, createMeshTransport(`http://127.0.0.1:${server.port}`));
});
afterAll(async () => {
  await server.close();
  await test.drop();
});

const PATH = "/src/engine";
async function viewerNamed(name: string, organization: string = randomUUID(), path: string = PATH): Promise<Viewer> {
  const who = { organization, principal: `user:${name}` };
  return { ...who, project: await projectNamed(projects, who, path), mayWriteTeamFacts: true };
}
const write = async (viewer: Viewer, text: string, draft: Partial<FactDraft> = {}): Promise<string> =>
  (await store.inScope(viewer, (facts) => writeFact(facts, viewer, draftOf(text, { scope: "personal", ...draft })))).fact.id;
const replace = async (viewer: Viewer, id: string, text: string): Promise<string> =>
  (await store.inScope(viewer, (facts) => replaceFact(facts, viewer, id, text, PERSON))).fact.id;
const turn = (ordinal: number, text: string, speaker: Turn["speaker"] = "person"): Turn => {
  return { key: `t${ordinal}`, ordinal, speaker, text, saidAt: new Date(Date.UTC(2026, 9, 1, 12, ordinal)) };
};
const put = (viewer: Viewer, session: string, ...turns: Turn[]) =>
  transcripts.put(viewer, { tool: "codex", session, title: "", folder: "", machine: "", firstAsked: "first" }, turns);
function thread(viewer: Viewer, name: string, more: { kind?: EntityKind; limit?: number; pageToken?: string } = {}) {
  const { organization, principal: id, project } = viewer;
  const token = identity.minter.mint({ ...testPrincipal, id, organization }, "memory");
  return client.getThread({ name, project, ...more }, { headers: { authorization: `Bearer ${token}` } });
}
const eventWords = ({ events }: GetThreadResponse): string[] =>
  events.map(({ event }) => (event.case === "change" ? `${event.value.kind} ${event.value.fact?.text}` : (event.case ?? "")));

describe("the thread of an entity", () => {
  it("tells what was learnt of it, what replaced what, what sessions said, and where it was used", async () => {
    const ada = await viewerNamed("ada");
    const first = await write(ada, "Deploys go through src/deploy.ts", { subject: "deploys", predicate: "script" });
    const second = await replace(ada, first, "Deploys go through scripts/ship.ts");
    await store.inScope(ada, (facts) => pinFact(facts, ada, second, true));
    await put(ada, "s1", turn(0, "Why does `./src/deploy.ts` hang?"), turn(1, "cat src/deploy.ts", "tool"));
    const usage = new PostgresUsageLog(test.database, testLog);
    await usage.recordRecall(ada, {
      kind: "run",
      project: "",
      sessionId: "s",
      runId: "r",
      query: "deploy",
      shown: [first, second],
      milliseconds: 1,
    });
    await usage.recordAnswer(ada, { runId: "r", shown: [first], used: [first], rederived: [] });
    const told = await thread(ada, "SRC/deploy.ts");
    expect(told.entities).toMatchObject([{ kind: EntityKind.PATH, name: "src/deploy.ts", items: 2 }]);
    expect(told.facts.map(({ factId, supersededBy }) => [factId, supersededBy])).toEqual([
      [second, ""],
      [first, second],
    ]);
    expect(timestampDate(told.facts[1]!.validTo!) >= timestampDate(told.facts[1]!.validFrom!)).toBe(true);
    expect(eventWords(told)).toEqual([
      "used",
      "shown",
      "2 Deploys go through scripts/ship.ts",
      "1 Deploys go through src/deploy.ts",
      "turn",
    ]);
    expect(told.events.find(({ event }) => event.case === "shown")?.event.value).toMatchObject({ query: "deploy", factIds: [first] });
    expect(told.events.at(-1)?.event.value).toMatchObject({ link: "/memory/sources?tool=codex&session=s1&turn=0" });
    expect(told.related).toMatchObject([{ kind: EntityKind.NAME, name: "deploys", items: 1 }]);
    expect((await thread(ada, "deploys")).relations).toMatchObject([
      { subject: "deploys", predicate: "script", object: "Deploys go through scripts/ship.ts", factId: second },
    ]);
  });

  it("goes on where a page ended, and says which other names may be meant", async () => {
    const ada = await viewerNamed("ada");
    for (let at = 0; at < 7; at += 1) await write(ada, `Note ${at} was approved by Grace Hopper`);
    await write(ada, "The tea is for @grace");
    const seen: string[] = [];
    for (let pageToken = ""; ;) {
      const page = await thread(ada, "grace hopper", { limit: 3, pageToken });
      seen.push(...eventWords(page));
      pageToken = page.nextPageToken;
      if (pageToken === "") break;
    }
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((at) => `1 Note ${at} was approved by Grace Hopper`));
    expect((await thread(ada, "Grace")).similar).toMatchObject([{ name: "Grace Hopper", items: 7 }]);
    await write(ada, "Hopper station is in src/station.ts");
    expect((await thread(ada, "Grace Hopper")).similar).toEqual([]);
    const unknown = await thread(ada, "Admiral Hopper");
    expect(unknown).toMatchObject({ entities: [], events: [], similar: [{ name: "Grace Hopper" }] });
    const other = await thread(ada, "grace", { kind: EntityKind.ISSUE });
    expect(other).toMatchObject({ entities: [], events: [] });
    for (const pageToken of ["!", Buffer.from("2026-02-31T00:00:00.000000Z x").toString("base64url")])
      expect(fromConnectError(await thread(ada, "grace", { pageToken }).catch((thrown: unknown) => thrown))).toMatchObject({
        reason: "page_token_invalid",
      });
  });

  it("is of a fact or a session where that is asked for", async () => {
    const ada = await viewerNamed("ada");
    const sourceSessionId = randomUUID();
    const first = await write(ada, "The heron is grey", { sourceSessionId });
    const second = await replace(ada, first, "The heron is blue");
    const ofFact = await thread(ada, first);
    expect(ofFact.fact?.factId).toBe(first);
    expect(eventWords(ofFact)).toEqual(["2 The heron is blue", "1 The heron is grey"]);
    expect(ofFact.facts.map(({ factId }) => factId)).toEqual([second, first]);
    const ofSession = await thread(ada, sourceSessionId);
    expect(ofSession).toMatchObject({ sessionId: sourceSessionId, entities: [] });
    expect(eventWords(ofSession)).toEqual(["2 The heron is blue", "1 The heron is grey"]);
    await put(ada, "ses_1", turn(0, "one"), turn(1, "two"));
    expect((await thread(ada, "ses_1")).events.map(({ event }) => event.case)).toEqual(["turn", "turn"]);
  });
});

describe("mentions", () => {
  const held = (viewer: Viewer) =>
    test.database.query<{ key: string }>("SELECT key FROM entity_mention WHERE organization = $1 ORDER BY key", [viewer.organization]);

  it("go with a forgotten fact and a forgotten session, and change with a turn's text", async () => {
    const ada = await viewerNamed("ada");
    const id = await write(ada, "See src/gone.ts");
    await put(ada, "s", turn(0, "Look at src/old.ts"));
    await put(ada, "s", turn(0, "Look at src/new.ts"));
    expect(await held(ada)).toEqual([{ key: "src/gone.ts" }, { key: "src/new.ts" }]);
    await test.database.query("SELECT forget_facts($1::uuid[])", [[id]]);
    await transcripts.forget(ada, "codex", "s");
    expect(await held(ada)).toEqual([]);
  });

  it("are found in what an older release wrote, and again by a newer one", async () => {
    const ada = await viewerNamed("ada");
    await write(ada, "See src/early.ts");
    await replace(ada, await write(ada, "See src/ended.ts"), "See nothing");
    await put(ada, "s", turn(0, "Look at src/turn.ts"));
    const before = await held(ada);
    await test.database.query("DELETE FROM entity_mention WHERE organization = $1", [ada.organization]);
    await test.database.query("UPDATE fact SET entities_version = 0 WHERE organization = $1", [ada.organization]);
    await test.database.query("UPDATE transcript_turn SET entities_version = 0 WHERE organization = $1", [ada.organization]);
    expect((await thread(ada, "src/early.ts")).entities).toEqual([]);
    await Promise.all([fillEntities(test.database, testLog), fillEntities(test.database, testLog)]);
    expect(await held(ada)).toEqual(before);
    expect(before).toEqual([{ key: "src/early.ts" }, { key: "src/ended.ts" }, { key: "src/turn.ts" }]);
  });

  it("are part of a person's export, and go with them; of shared facts the speaker's name goes", async () => {
    const ada = await viewerNamed("ada");
    await write(ada, "My diary is notes/diary.md");
    const shared = await write(ada, "The gate is src/gate.ts", { scope: "team", actor: "Ada" });
    const personal = new PostgresPersonalData(test.database, () => undefined);
    const { records } = await personal.exportPage(ada, "");
    const mentions = records.filter(({ kind }) => kind === "mention").map(({ json }) => (JSON.parse(json) as { name: string }).name);
    expect(mentions.sort()).toEqual(["Ada", "notes/diary.md", "src/gate.ts"]);
    await personal.erase(ada);
    expect(await test.database.query("SELECT item_id, owner, key FROM entity_mention WHERE organization = $1", [ada.organization])).toEqual(
      [{ item_id: shared, owner: "erased", key: "src/gate.ts" }],
    );
  });

  it("are exported page by page, however long their names are", async () => {
    const ada = await viewerNamed("ada");
    const path = (fact: number, at: number): string => `src/${"a".repeat(90)}/${fact}-${at}.ts`;
    for (let fact = 0; fact < 14; fact += 1) await write(ada, Array.from({ length: 40 }, (_, at) => path(fact, at)).join(" "));
    const personal = new PostgresPersonalData(test.database, () => undefined);
    const names = new Set<string>();
    for (let cursor = ""; ;) {
      const page = await personal.exportPage(ada, cursor);
      for (const { kind, json } of page.records) if (kind === "mention") names.add((JSON.parse(json) as { name: string }).name);
      cursor = page.nextCursor;
      if (cursor === "") break;
      expect(cursor.length).toBeLessThanOrEqual(128);
    }
    expect(names.size).toBe(14 * 40);
  });

  it("go along where a project becomes another one", async () => {
    const ada = await viewerNamed("ada");
    await write(ada, "See src/moved.ts", { scope: "project" });
    const elsewhere = await viewerNamed("ada", ada.organization, "/src/elsewhere");
    expect((await thread(elsewhere, "src/moved.ts")).entities).toEqual([]);
    await projects.adopt(ada, [ada.project], elsewhere.project);
    expect((await thread(elsewhere, "src/moved.ts")).entities).toMatchObject([{ items: 1 }]);
    expect((await thread(ada, "src/moved.ts")).entities).toEqual([]);
  });

  it("stay few, plain and without secrets, whatever a fact holds", async () => {
    const ada = await viewerNamed("ada");
    await write(ada, Array.from({ length: 1_200 }, (_, at) => `src/f${at}.ts`).join(" "));
    await write(ada, "<b>BoldMarkup</b> and <img src=x onerror=alert(1)> by \u202eMallory\u001b[2J", {
      subject: "<script>alert(1)</script>",
      predicate: "is",
    });
    await write(ada, `Use ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)} in src/a.ts`);
    const keys = (await held(ada)).map(({ key }) => key);
    expect(keys.filter((key) => key.startsWith("src/f"))).toHaveLength(40);
    expect(keys.join(" ")).not.toMatch(/[\p{Cc}\u202e]|ghp_/u);
    expect((await thread(ada, "<script>alert(1)</script>")).entities).toMatchObject([{ name: "<script>alert(1)</script>", items: 1 }]);
    for (const name of ["%", "_", "'; DROP TABLE fact; --", "\u0000", "a\u0000b", "\\", " ", "x".repeat(256)])
      expect((await thread(ada, name)).events).toEqual([]);
  });
});

it("tells nobody of what others see, neither by names nor by counts", async () => {
  const people = ["ada", "bob"] as const;
  const paths = ["/src/one", "/src/two"] as const;
  const names = ["src/red.ts", "src/green.ts", "src/blue.ts"] as const;
  const item = fastCheck.record({
    person: fastCheck.constantFrom(...people),
    path: fastCheck.constantFrom(...paths),
    organization: fastCheck.constantFrom("a", "b"),
    where: fastCheck.constantFrom("personal", "team", "project", "turn"),
    speaksOf: fastCheck.uniqueArray(fastCheck.constantFrom(...names), { minLength: 1 }),
  });
  await fastCheck.assert(
    fastCheck.asyncProperty(fastCheck.array(item, { minLength: 1, maxLength: 12 }), async (items) => {
      const run = randomUUID();
      const viewerFor = (one: Pick<(typeof items)[number], "person" | "path" | "organization">) =>
        viewerNamed(one.person, `${run}-${one.organization}`, one.path);
      for (const [at, one] of items.entries()) {
        const viewer = await viewerFor(one);
        const text = `Item ${at} speaks of ${one.speaksOf.join(" ")}`;
        if (one.where === "turn") await put(viewer, `s${at}`, turn(0, text));
        else await write(viewer, text, { scope: one.where });
      }
      for (const person of people)
        for (const path of paths)
          for (const organization of ["a", "b"] as const) {
            const viewer = await viewerFor({ person, path, organization });
            const isSeen = (one: (typeof items)[number]): boolean =>
              one.organization === organization &&
              (one.where === "team" || (one.person === person && (one.where !== "project" || one.path === path)));
            const seen = items.filter(isSeen);
            for (const name of names) {
              const withName = seen.filter(({ speaksOf }) => speaksOf.includes(name));
              const told = await thread(viewer, name, { limit: 200 });
              expect(told.entities.map(({ items: count }) => count)).toEqual(withName.length === 0 ? [] : [withName.length]);
              expect(told.events).toHaveLength(withName.length);
              expect(new Map(told.related.map((one) => [one.name, one.items]))).toEqual(
                new Map(
                  names
                    .filter((other) => other !== name)
                    .map((other) => [other, withName.filter(({ speaksOf }) => speaksOf.includes(other)).length] as const)
                    .filter(([, count]) => count > 0),
                ),
              );
              const others = names.filter((other) => other !== name && seen.some(({ speaksOf }) => speaksOf.includes(other)));
              expect(told.similar.map((one) => one.name).every((one) => (others as string[]).includes(one))).toBe(true);
            }
          }
    }),
    { numRuns: 12 },
  );
}, 120_000);
