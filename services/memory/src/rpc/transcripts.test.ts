import { fileURLToPath } from "node:url";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient, type Client } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "@hlvm/identity/principal";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { Speaker, TranscriptService } from "@hlvm/proto/hlvm/memory/v1/transcript_pb";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { PostgresPersonalData } from "../adapters/postgres-personal-data.ts";
import { PostgresProjects } from "../adapters/postgres-projects.ts";
import { PostgresTranscripts } from "../adapters/postgres-transcripts.ts";
import { fillSearch } from "../adapters/search-filler.ts";
import { transcriptMethods } from "./transcripts.ts";

const TOOL = "claude-code";
let test: TestDatabase;
let server: RpcServer;
let client: Client<typeof TranscriptService>;
let identity: Awaited<ReturnType<typeof createTestIdentity>>;

beforeAll(async () => {
  test = await createTestDatabase(fileURLToPath(new URL("../../migrations", import.meta.url)));
  identity = await createTestIdentity();
  const ports = { transcripts: new PostgresTranscripts(test.database), projects: new PostgresProjects(test.database) };
  server = await startRpcServer({
    host: "127.0.0.1",
    port: 0,
    log: testLog,
    routes: (router) => router.service(TranscriptService, transcriptMethods(ports)),
    services: [TranscriptService.typeName],
    authenticate: identity.verifier("memory"),
  });
  client = createClient(TranscriptService, createMeshTransport(`http://127.0.0.1:${server.port}`));
});
afterAll(async () => {
  await server.close();
  await test.drop();
});

const personNamed = (name: string, organization: string): Principal => ({ ...testPrincipal, id: `user:${name}`, organization });
const callOf = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const as = (name: string, organization = "acme") => callOf(identity.minter.mint(personNamed(name, organization), "memory"));
const turn = (ordinal: number, text: string, speaker: Speaker = Speaker.PERSON) => ({
  key: `t${ordinal}`,
  ordinal,
  speaker,
  text,
  saidAt: timestampFromDate(new Date(Date.UTC(2026, 10, 1, 12, ordinal))),
});
const batch = (session: string, ...turns: ReturnType<typeof turn>[]) => ({
  tool: TOOL,
  session,
  folder: "/src/engine",
  machine: "laptop",
  turns,
});

describe("importing turns", () => {
  it("stores each turn once, whoever sends it again, and a changed one in place of the old", async () => {
    const ada = as("importer");
    const first = batch("s1", turn(0, "Why does the ferry timetable drift?"), turn(1, "Because of the tide tables.", Speaker.ASSISTANT));
    expect(await client.importTurns(first, ada)).toMatchObject({ added: 2, changed: 0, unchanged: 0 });
    expect(await client.importTurns({ ...first, machine: "desktop" }, ada)).toMatchObject({ added: 0, changed: 0, unchanged: 2 });
    const later = batch("s1", turn(1, "Because of leap seconds.", Speaker.ASSISTANT), turn(2, "Mend it."));
    expect(await client.importTurns(later, ada)).toMatchObject({ added: 1, changed: 1, unchanged: 0 });
    const { transcript, turns } = await client.getTranscript({ tool: TOOL, session: "s1" }, ada);
    expect(turns.map(({ text }) => text)).toEqual(["Why does the ferry timetable drift?", "Because of leap seconds.", "Mend it."]);
    expect(transcript).toMatchObject({ title: "Why does the ferry timetable drift?", folder: "/src/engine", turns: 3 });
    expect((await client.searchTranscripts({ query: "tide tables" }, ada)).found).toEqual([]);
  });

  it("stores the same once where two machines send it at once", async () => {
    const eve = as("twin");
    const turns = Array.from({ length: 100 }, (_, at) => turn(at, `The winch of pier ${at} squeaks`));
    const stored = await Promise.all([client.importTurns(batch("s1", ...turns), eve), client.importTurns(batch("s1", ...turns), eve)]);
    expect(stored.map(({ added }) => added).sort((a, b) => a - b)).toEqual([0, 100]);
  });

  it("keeps neither secrets nor what hides", async () => {
    const ada = as("careless");
    const token = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
    await client.importTurns(batch("s2", turn(0, `Use ${token} to push`), turn(1, "Read\u200bme \u202eback")), ada);
    const { turns } = await client.getTranscript({ tool: TOOL, session: "s2" }, ada);
    expect(turns[0]!.text).toBe("Use [secret: GitHub token] to push");
    expect(turns[1]!.text).not.toMatch(/[\u200b\u202e]/);
  });

  it("leaves out what says nothing", async () => {
    const ada = as("silent");
    expect(await client.importTurns(batch("s3", turn(0, " \n\t ")), ada)).toMatchObject({ added: 0 });
  });
});

describe("searching sessions", () => {
  it("finds each session once, by the turn that fits best, with a link to it", async () => {
    const ada = as("searcher");
    await client.importTurns(
      batch("harbour", turn(0, "Let us talk of harbours"), turn(1, "The crane of the harbour rusts at its hinges")),
      ada,
    );
    await client.importTurns(batch("garden", turn(0, "Prune the roses in March"), turn(1, "And the harbour view stays free")), ada);
    const { found } = await client.searchTranscripts({ query: "harbour crane hinges" }, ada);
    expect(found.map(({ transcript }) => transcript?.session)).toEqual(["harbour", "garden"]);
    expect(found[0]).toMatchObject({ turn: { ordinal: 1 }, link: "/memory/sources?tool=claude-code&session=harbour&turn=1" });
  });

  it("shows the part of a long turn that was asked for", async () => {
    const ada = as("reader");
    await client.importTurns(
      batch("long", turn(0, `${"lorem ipsum ".repeat(1_500)}the zeppelin landed ${"dolor sit ".repeat(1_500)}`)),
      ada,
    );
    const [found] = (await client.searchTranscripts({ query: "zeppelin" }, ada)).found;
    expect(found!.turn!.text).toContain("zeppelin");
    expect(found!.turn!.text.length).toBeLessThan(610);
  });

  it("finds again what an older release cut into terms otherwise", async () => {
    const ada = as("upgraded");
    await client.importTurns(batch("old", turn(0, "The sextant is calibrated yearly")), ada);
    await test.database.query("UPDATE search_item SET terms_version = 0, terms = '{}', counts = '{}' WHERE owner = 'user:upgraded'");
    expect((await client.searchTranscripts({ query: "sextant" }, ada)).found).toEqual([]);
    await fillSearch(test.database, testLog);
    expect((await client.searchTranscripts({ query: "sextant" }, ada)).found).toHaveLength(1);
  });
});

describe("whose sessions", () => {
  it("are seen by their person alone", async () => {
    await client.importTurns(batch("private", turn(0, "The wedding is in Lisbon")), as("bride"));
    for (const other of [as("guest"), as("bride", "other")]) {
      expect((await client.searchTranscripts({ query: "wedding Lisbon" }, other)).found).toEqual([]);
      expect((await client.listTranscripts({}, other)).transcripts).toEqual([]);
      expect((await client.listTranscriptSources({}, other)).sources).toEqual([]);
      expect(
        fromConnectError(await client.getTranscript({ tool: TOOL, session: "private" }, other).catch((thrown: unknown) => thrown)),
      ).toMatchObject({
        reason: "transcript_not_found",
      });
      expect(await client.forgetTranscripts({ tool: TOOL }, other)).toMatchObject({ sessions: 0, turns: 0 });
    }
    expect((await client.searchTranscripts({ query: "wedding Lisbon" }, as("bride"))).found).toHaveLength(1);
  });

  it("cannot be imported or forgotten by a run", async () => {
    const run = callOf(identity.mintForRun({ principal: personNamed("ada", "acme") }, "memory"));
    for (const call of [client.importTurns(batch("s", turn(0, "I am Ada")), run), client.forgetTranscripts({ tool: TOOL }, run)])
      expect(fromConnectError(await call.catch((thrown: unknown) => thrown))).toMatchObject({ reason: "person_needed" });
  });
});

describe("forgetting", () => {
  it("takes the turns and their words, and the next import does not bring them back", async () => {
    const ada = as("forgetful");
    const sent = batch("gone", turn(0, "The vault opens at noon"));
    await client.importTurns(sent, ada);
    expect(await client.forgetTranscripts({ tool: TOOL, session: "gone" }, ada)).toMatchObject({ sessions: 1, turns: 1 });
    expect(await client.importTurns(sent, ada)).toMatchObject({ added: 0, isForgotten: true });
    expect((await client.searchTranscripts({ query: "vault noon" }, ada)).found).toEqual([]);
    expect(await test.database.query("SELECT FROM search_item WHERE owner = 'user:forgetful'")).toEqual([]);
  });

  it("is part of erasing a person, and all of it is part of their export", async () => {
    const ada = as("leaver");
    await client.importTurns(batch("kept", turn(0, "My locker is number seven")), ada);
    const personal = new PostgresPersonalData(test.database, () => undefined);
    const person = { organization: "acme", principal: "user:leaver" };
    const kinds = (await personal.exportPage(person, "")).records.map(({ kind }) => kind);
    expect(kinds).toEqual(["transcript", "turn"]);
    expect((await personal.erase(person)).get("turns")).toBe(1);
    expect((await personal.exportPage(person, "")).records).toEqual([]);
    expect(await test.database.query("SELECT FROM search_item WHERE owner = 'user:leaver'")).toEqual([]);
  });
});

it("counts what each source gave, and sessions in which nobody spoke", async () => {
  const ada = as("counter");
  await client.importTurns(batch("a", turn(0, "Hello there"), turn(1, "Hello", Speaker.ASSISTANT)), ada);
  await client.importTurns(batch("b", turn(0, "Only the machine speaks", Speaker.ASSISTANT)), ada);
  await client.citeTranscript({ tool: TOOL, session: "a", ordinal: 1 }, ada);
  expect((await client.listTranscriptSources({}, ada)).sources).toMatchObject([
    { tool: TOOL, machine: "laptop", sessions: 2, turns: 3, sessionsWithoutPerson: 1 },
  ]);
  expect((await client.listTranscripts({ tool: TOOL }, ada)).transcripts.find(({ session }) => session === "a")).toMatchObject({
    cited: 1,
  });
});

it("reads on where a page of turns ended", async () => {
  const ada = as("pager");
  await client.importTurns(batch("pages", ...Array.from({ length: 30 }, (_, at) => turn(at, `Step ${at}`))), ada);
  const first = await client.getTranscript({ tool: TOOL, session: "pages", limit: 20 }, ada);
  expect(first).toMatchObject({ nextOrdinal: 20 });
  const second = await client.getTranscript({ tool: TOOL, session: "pages", limit: 20, fromOrdinal: first.nextOrdinal }, ada);
  expect(second.turns.map(({ text }) => text)).toEqual(Array.from({ length: 10 }, (_, at) => `Step ${at + 20}`));
  expect(second.nextOrdinal).toBe(0);
});
