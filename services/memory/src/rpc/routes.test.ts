import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { Code, ConnectError, createClient, type Client } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canonicalArguments } from "@hlvm/canonical-json/canonical-arguments";
import type { Principal } from "@hlvm/identity/principal";
import {
  FactChangeKind,
  FactOrigin,
  FactScope,
  FactType,
  MemoryService,
  SearchSource,
  WriteOutcome,
} from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { Trust } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { createMeshTransport } from "@hlvm/transport/create-mesh-transport";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { startRpcServer, type RpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { createTestIdentity, testEnforcement } from "@hlvm/testing/test-identity";
import { testLog } from "@hlvm/testing/test-log";
import { definitionHash } from "@hlvm/tools/definition-hash";
import { findNativeTool } from "@hlvm/tools/native-tools";
import { Circuit } from "../adapters/circuit.ts";
import { MeilisearchConnection } from "../adapters/meilisearch-connection.ts";
import { MeilisearchFactIndex } from "../adapters/meilisearch-fact-index.ts";
import { PostgresFactStore } from "../adapters/postgres-fact-store.ts";
import { PostgresProjects } from "../adapters/postgres-projects.ts";
import { PostgresTranscripts } from "../adapters/postgres-transcripts.ts";
import { PostgresUsageLog } from "../adapters/postgres-usage-log.ts";
import { PostgresWiki } from "../adapters/postgres-wiki.ts";
import { memoryRoutes } from "./routes.ts";

/** Nobody listens there: every answer here comes from the database. */
const NOWHERE = { url: "http://127.0.0.1:1", key: "" };
const PROJECT = "/src/engine";

let test: TestDatabase;
let server: RpcServer;
let memory: Client<typeof MemoryService>;
let identity: Awaited<ReturnType<typeof createTestIdentity>>;

beforeAll(async () => {
  test = await createTestDatabase(fileURLToPath(new URL("../../migrations", import.meta.url)));
  identity = await createTestIdentity();
  const store = new PostgresFactStore(test.database, () => undefined);
  const index = new MeilisearchFactIndex(new MeilisearchConnection(NOWHERE), new Circuit(), testLog, () => undefined, 0);
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
    services: [MemoryService.typeName],
    authenticate: identity.verifier("memory"),
  });
  memory = createClient(MemoryService, createMeshTransport(`http://127.0.0.1:${server.port}`));
});
afterAll(async () => {
  await server.close();
  await test.drop();
});

const newcomer = (): Principal => ({ organization: randomUUID(), id: "user:ada", roles: ["developer"] });
const as = async (principal: Principal) => ({ headers: { authorization: `Bearer ${identity.minter.mint(principal, "memory")}` } });
/** Has a session of theirs in the workspace of a repository. */
const join = async (principal: Principal, workspace = PROJECT, rootCommit = "a".repeat(40)): Promise<string> => {
  const headers = { authorization: `Bearer ${identity.mintForRun({ principal }, "memory")}` };
  const found = { origin: "git@example.com:acme/engine.git", rootCommit };
  return (await memory.registerProject({ workspace, identity: found }, { headers })).project!.projectId;
};
const reasonOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "it went through",
    (thrown: unknown) => fromConnectError(thrown).reason,
  );

interface Tampering {
  readonly callId?: string;
  readonly grantFor?: string;
  readonly grant?: string;
  readonly sessionId?: string;
  readonly definitionHash?: string;
}

/** Calls a tool with a grant for this call, or with what the test puts in its place. */
async function execute(principal: Principal, tool: string, given: object, tampering: Tampering = {}) {
  const argumentsJson = JSON.stringify(given);
  const hash = tampering.definitionHash ?? definitionHash(findNativeTool(tool)!);
  const call = {
    sessionId: tampering.sessionId ?? randomUUID(),
    runId: randomUUID(),
    callId: tampering.callId ?? randomUUID(),
    tool,
    definitionHash: hash,
  };
  const grant =
    tampering.grant ??
    identity.signer.sign({
      ...call,
      organization: principal.organization,
      principal: principal.id,
      argumentsHash: canonicalArguments(tampering.grantFor ?? argumentsJson).hash,
      policyVersion: "1",
      ...testEnforcement,
    });
  const send = async () =>
    (await memory.executeTool({ call: { ...call, argumentsJson }, grant, project: PROJECT }, await as(principal))).result!;
  return { send, result: await send() };
}
const idIn = (content: string): string => /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(content)![0];

describe("MemoryService", () => {
  it("writes, finds, edits and recalls a person's facts", async () => {
    const options = await as(newcomer());
    const slot = { subject: "repository", predicate: "default_branch", project: PROJECT };
    const { fact: old } = await memory.writeFact({ text: "The default branch is master", ...slot }, options);
    expect(old).toMatchObject({
      origin: FactOrigin.USER_STATED,
      scope: FactScope.PROJECT,
      type: FactType.PROJECT,
      project: expect.stringMatching(/^project-/),
      writtenBy: "user:ada",
      sourceSessionId: "",
      pinned: false,
    });
    const written = await memory.writeFact({ text: "The default branch is trunk", ...slot }, options);
    expect(written.supersededFactIds).toEqual([old!.factId]);

    const change = { case: "replacementText", value: "The default branch is main" } as const;
    const { fact } = await memory.editFact({ factId: written.fact!.factId, project: PROJECT, change }, options);
    const found = await memory.searchFacts({ query: "default branch", project: PROJECT }, options);
    expect(found).toMatchObject({ source: SearchSource.DATABASE, notice: expect.stringContaining("Meilisearch") });
    expect(found.facts.map((one) => one.fact)).toEqual([fact]);
    expect(found.facts[0]!.score).toBeGreaterThan(0);

    await memory.editFact({ factId: fact!.factId, project: PROJECT, change: { case: "pinned", value: true } }, options);
    expect(await memory.recall({ query: "", project: PROJECT }, options)).toMatchObject({
      facts: [{ factId: fact!.factId, pinned: true }],
      moreExist: false,
    });
    await memory.editFact({ factId: fact!.factId, project: PROJECT, change: { case: "remove", value: true } }, options);
    expect(await memory.recall({ query: "default branch", project: PROJECT }, options)).toMatchObject({ facts: [] });
  });

  it("writes many at once, each with its own outcome and a change that can be undone", async () => {
    const ada = newcomer();
    const options = await as(ada);
    const slot = { subject: "repository", predicate: "default_branch" };
    const facts = [
      { text: "The default branch is master", ...slot },
      { text: "The default branch is main", ...slot },
      { text: "the default branch is main.", ...slot },
      { text: " \u200b" },
      { text: "We deploy on Fridays", scope: FactScope.TEAM },
      { text: "Lunch is at noon", sourceSessionId: "chat-1", sourceOrdinal: 3, actor: "Bob" },
    ];
    const { facts: written } = await memory.writeFacts({ facts }, options);
    expect(written.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      [WriteOutcome.WRITTEN, ""],
      [WriteOutcome.REPLACED, ""],
      [WriteOutcome.KNOWN, ""],
      [WriteOutcome.REFUSED, "fact_empty"],
      [WriteOutcome.PROPOSED, ""],
      [WriteOutcome.WRITTEN, ""],
    ]);
    const found = await memory.searchFacts({ query: "default branch Bob lunch" }, options);
    expect(found.facts.map(({ fact }) => fact!.text).sort()).toEqual(["Lunch is at noon", "The default branch is main"]);
    const { changes } = await memory.listFactChanges({}, options);
    expect(changes).toHaveLength(4);
    const { changeId } = changes.find(({ kind }) => kind === FactChangeKind.REPLACED)!;
    await memory.undoFactChange({ changeId }, options);
    expect((await memory.searchFacts({ query: "default branch" }, options)).facts.map(({ fact }) => fact!.text)).toEqual([
      "The default branch is master",
    ]);
    const byRun = { headers: { authorization: `Bearer ${identity.mintForRun({ principal: ada }, "memory")}` } };
    expect(await reasonOf(memory.writeFacts({ facts }, byRun))).toBe("person_needed");
  });

  it("takes no more facts than were asked for", async () => {
    const options = await as(newcomer());
    for (let n = 0; n < 12; n++) await memory.writeFact({ text: `Turbine ${n} spins` }, options);
    expect((await memory.searchFacts({ query: "turbine" }, options)).facts).toHaveLength(10);
    expect((await memory.searchFacts({ query: "turbine", limit: 3 }, options)).facts).toHaveLength(3);
  });

  it("finds nothing in a question of nothing but small words", async () => {
    const options = await as(newcomer());
    await memory.writeFact({ text: "The what and the why" }, options);
    expect((await memory.searchFacts({ query: "what is the ' | & ! ?" }, options)).facts).toEqual([]);
  });

  it("refuses a call without token, and an invalid request", async () => {
    await expect(memory.searchFacts({ query: "x" })).rejects.toMatchObject({ code: Code.Unauthenticated });
    const options = await as(newcomer());
    await expect(memory.writeFact({ text: "" }, options)).rejects.toMatchObject({ code: Code.InvalidArgument });
    await expect(memory.editFact({ factId: randomUUID() }, options)).rejects.toMatchObject({ code: Code.InvalidArgument });
    const change = { case: "remove", value: true } as const;
    expect(await reasonOf(memory.editFact({ factId: randomUUID(), change }, options))).toBe("fact_not_found");
  });
});

describe("a fact of a megabyte", () => {
  it("is refused with what may be, whoever writes it, and nothing of it is kept", async () => {
    const ada = newcomer();
    const text = `Deploys ${"need approval. ".repeat(70_000)}`;
    const refused = await memory.writeFact({ text }, await as(ada)).catch((thrown: unknown) => ConnectError.from(thrown));
    expect(refused).toMatchObject({ code: Code.InvalidArgument, rawMessage: expect.stringMatching(/text.*16384/) as string });
    const { result } = await execute(ada, "memory_write", { text });
    expect(result).toMatchObject({ success: false });
    expect(result.content.length).toBeLessThan(1_000);
    expect((await memory.listFacts({}, await as(ada))).facts).toEqual([]);
  });
});

describe("lists, history, undo", () => {
  it("give pages whose tokens belong to the question and the person", async () => {
    const ada = newcomer();
    const options = await as(ada);
    for (const text of ["one", "two", "three"]) await memory.writeFact({ text, category: "n", project: PROJECT }, options);
    const filter = { project: PROJECT, category: "n" };
    const first = await memory.listFacts({ filter, limit: 2 }, options);
    expect(first.facts.map(({ text }) => text)).toEqual(["three", "two"]);
    const pageToken = first.nextPageToken;
    const rest = await memory.listFacts({ filter, limit: 2, pageToken }, options);
    expect([rest.facts.map(({ text }) => text), rest.nextPageToken]).toEqual([["one"], ""]);
    const bob = await as({ ...ada, id: "user:bob" });
    const changes = await memory.listFactChanges({ filter, limit: 2 }, options);
    for (const call of [
      () => memory.listFacts({ filter: { project: PROJECT }, pageToken }, options),
      () => memory.listFacts({ filter, withEnded: true, pageToken }, options),
      () => memory.listFacts({ filter, pinned: true, pageToken }, options),
      () => memory.listFacts({ filter, pageToken }, bob),
      () => memory.listFacts({ filter, pageToken: "x".repeat(40) }, options),
      () => memory.listFacts({ filter, pageToken: changes.nextPageToken }, options),
      () => memory.listFactChanges({ filter, pageToken: changes.cursor }, options),
    ])
      expect(await reasonOf(call())).toBe("page_token_invalid");
    await expect(memory.listFacts({ limit: 101 }, options)).rejects.toMatchObject({ code: Code.InvalidArgument });
  });

  it("give pinned facts alone where they are asked for", async () => {
    const options = await as(newcomer());
    await memory.writeFact({ text: "one", pinned: true }, options);
    await memory.writeFact({ text: "two" }, options);
    const { facts, nextPageToken } = await memory.listFacts({ pinned: true, limit: 1 }, options);
    expect([facts.map(({ text }) => text), nextPageToken]).toEqual([["one"], ""]);
  });

  it("tell what a run did, in whose name and in which call, and take it back", async () => {
    const ada = newcomer();
    const options = await as(ada);
    const [sessionId, callId] = [randomUUID(), "call-1"];
    const { result } = await execute(ada, "memory_write", { text: "Tests run with vitest" }, { sessionId, callId });
    const factId = idIn(result.content);
    await execute(ada, "memory_edit", { fact_id: factId, action: "remove" }, { sessionId, callId: "call-2" });
    const { fact, changes, moreExist } = await memory.getFact({ factId, project: PROJECT }, options);
    expect({ fact, changes, moreExist }).toMatchObject({
      fact: { text: "Tests run with vitest", validTo: expect.anything() },
      changes: [
        { kind: FactChangeKind.ENDED, principal: "user:ada", sessionId, callId: "call-2", fact: { factId } },
        { kind: FactChangeKind.WRITTEN, principal: "user:ada", sessionId, callId, runId: expect.stringMatching(/-/) },
      ],
      moreExist: false,
    });
    const [{ changeId }] = changes as [(typeof changes)[0]];
    const { change } = await memory.undoFactChange({ changeId, project: PROJECT }, options);
    expect(change).toMatchObject({
      kind: FactChangeKind.UNDONE,
      undoneChangeId: changeId,
      undoneKind: FactChangeKind.ENDED,
      sessionId: "",
    });
    expect((await memory.searchFacts({ query: "vitest", project: PROJECT }, options)).facts).toHaveLength(1);

    expect(await reasonOf(memory.undoFactChange({ changeId, project: PROJECT }, options))).toBe("fact_changed_since");
    for (const other of [await as(newcomer()), options]) {
      expect(await reasonOf(memory.getFact({ factId, project: "/src/other" }, other))).toBe("fact_not_found");
      expect(await reasonOf(memory.undoFactChange({ changeId, project: "" }, other))).toBe("fact_change_not_found");
    }
  });
});

describe("projects", () => {
  it("are what a workspace is: one for all paths of a repository, another one for each repository at a path", async () => {
    const ada = newcomer();
    const bob = { ...ada, id: "user:bob" };
    const engine = await join(ada);
    expect(await join(bob, "/home/bob/engine")).toBe(engine);
    expect(engine).not.toContain("a".repeat(8));
    const { fact } = await memory.writeFact({ text: "Tests run with vitest", project: PROJECT }, await as(ada));
    expect(fact!.project).toBe(engine);
    expect((await memory.searchFacts({ query: "vitest", project: "/home/bob/engine" }, await as(bob))).facts).toHaveLength(1);

    const other = await join(ada, PROJECT, "b".repeat(40));
    expect(other).not.toBe(engine);
    expect((await memory.searchFacts({ query: "vitest", project: PROJECT }, await as(ada))).facts).toEqual([]);
    expect((await memory.searchFacts({ query: "vitest", project: engine }, await as(ada))).facts).toHaveLength(1);
  });

  it("take over what their member wrote by the path before, and leave what others wrote", async () => {
    const ada = newcomer();
    const bob = { ...ada, id: "user:bob" };
    const { fact: early } = await memory.writeFact(
      { text: "The port is 80", subject: "service", predicate: "port", project: PROJECT },
      await as(ada),
    );
    await memory.editFact(
      { factId: early!.factId, project: PROJECT, change: { case: "replacementText", value: "The port is 81" } },
      await as(ada),
    );
    // As it was when a path was a project: two people's, of whom one has no session here.
    await test.database.query("UPDATE fact SET project = $2, audience = $2 WHERE organization = $1", [ada.organization, PROJECT]);
    await test.database.query("UPDATE fact_change SET project = $2, audience = $2 WHERE organization = $1", [ada.organization, PROJECT]);
    await test.database.query(
      `INSERT INTO fact (fact_id, organization, owner, project, scope, audience, text, text_key, stems, category, type, origin, subject, predicate,
         slot, tags, pinned, source_session_id)
       SELECT gen_random_uuid(), organization, 'user:bob', project, scope, audience, 'of bob', 'b', 'bob', '', type, origin, '', '', '', tags, false, ''
       FROM fact WHERE fact_id = $1`,
      [early!.factId],
    );
    const project = await join(ada);
    await memory.writeFact({ text: "new", project: PROJECT }, await as(ada));
    const { facts } = await memory.listFacts({ filter: { project } }, await as(ada));
    expect(facts.map(({ text }) => text)).toEqual(["new", "The port is 81"]);
    const { changes } = await memory.getFact({ factId: early!.factId, project }, await as(ada));
    expect(changes.map(({ kind }) => kind)).toEqual([FactChangeKind.REPLACED, FactChangeKind.WRITTEN]);
    await join(bob, "/elsewhere");
    expect((await memory.listFacts({ filter: { project } }, await as(bob))).facts).toHaveLength(2);
    await join(bob);
    expect((await memory.listFacts({ filter: { project } }, await as(bob))).facts.map(({ text }) => text)).toContain("of bob");
  });

  it("are nobody's who has no session in them, by id and by path, whatever method is called", async () => {
    const ada = newcomer();
    const mallory = await as({ ...ada, id: "user:mallory", roles: ["developer", "approver"] });
    const project = await join(ada);
    const { fact } = await memory.writeFact({ text: "The vault is blue", project: PROJECT }, await as(ada));
    const { factId } = fact!;
    const { result } = await execute(ada, "memory_edit", { fact_id: factId, action: "remove" });
    const proposalId = idIn(result.content);
    const { changes } = await memory.listFactChanges({ filter: { project } }, await as(ada));
    const { changeId } = changes.at(-1)!;
    const filter = (named: string) => ({ filter: { project: named } });
    const seen: Record<string, (named: string) => Promise<unknown>> = {
      searchFacts: async (named) => (await memory.searchFacts({ query: "vault", project: named }, mallory)).facts,
      recall: async (named) => (await memory.recall({ query: "vault", project: named }, mallory)).facts,
      listFacts: async (named) => (await memory.listFacts({ ...filter(named), withEnded: true }, mallory)).facts,
      listFactChanges: async (named) => (await memory.listFactChanges(filter(named), mallory)).changes,
      listProposals: async (named) => (await memory.listProposals({ project: named }, mallory)).proposals,
      getFact: (named) => memory.getFact({ factId, project: named }, mallory),
      editFact: (named) => memory.editFact({ factId, project: named, change: { case: "remove", value: true } }, mallory),
      undoFactChange: (named) => memory.undoFactChange({ changeId, project: named }, mallory),
      acceptProposal: (named) => memory.acceptProposal({ proposalId, project: named }, mallory),
      rejectProposal: (named) => memory.rejectProposal({ proposalId, project: named }, mallory),
      watchFacts: async (named) => {
        for await (const { changes: told } of memory.watchFacts({ ...filter(named), cursor: "" }, mallory)) return told;
        return [];
      },
    };
    for (const [method, call] of Object.entries(seen)) {
      expect([method, await reasonOf(call(project))]).toEqual([method, "project_not_found"]);
      const byPath = await call(PROJECT).catch((thrown: unknown) => fromConnectError(thrown).reason);
      expect([method, byPath]).toEqual([method, expect.toSatisfy((is) => String(is).endsWith("_not_found") || String(is) === "")]);
    }
    expect(await reasonOf(memory.writeFact({ text: "x", project }, mallory))).toBe("project_not_found");
    await memory.writeFact({ text: "The vault is red", project: PROJECT }, mallory);
    expect((await memory.listFacts({ filter: { project } }, await as(ada))).facts.map(({ text }) => text)).toEqual(["The vault is blue"]);
    expect(await reasonOf(memory.registerProject({ workspace: PROJECT, identity: { rootCommit: "a".repeat(40) } }, mallory))).toBe(
      "run_needed",
    );
  });

  it("are shared and taken away by administrators, for good", async () => {
    const ada = newcomer();
    const bob = { ...ada, id: "user:bob" };
    const admin = { ...ada, id: "user:root", roles: ["admin"] as const };
    const projectId = await join(ada);
    expect((await memory.listProjects({}, await as(bob))).projects).toEqual([]);
    expect(await reasonOf(memory.addProjectMember({ projectId, principal: bob.id }, await as(ada)))).toBe("administrator_needed");
    expect(await memory.addProjectMember({ projectId, principal: bob.id }, await as(admin))).toMatchObject({
      project: { name: "engine", members: ["user:ada", "user:bob"] },
    });
    expect((await memory.listFacts({ filter: { project: projectId } }, await as(bob))).facts).toEqual([]);
    await memory.removeProjectMember({ projectId, principal: bob.id }, await as(admin));
    expect(await reasonOf(memory.listFacts({ filter: { project: projectId } }, await as(bob)))).toBe("project_not_found");
    expect(await reasonOf(join(bob))).toBe("project_not_found");
    expect((await memory.listProjects({}, await as(admin))).projects).toMatchObject([{ projectId, members: ["user:ada"] }]);
  });
});

describe("WatchFacts", () => {
  it("tells changes as they are made to whom may see them, goes on behind a cursor, and ends with its reader", async () => {
    const ada = newcomer();
    const bob = { ...ada, id: "user:bob" };
    const options = await as(ada);
    for (const member of [ada, bob]) await join(member);
    const { cursor } = await memory.listFactChanges({ filter: { project: PROJECT } }, options);
    await memory.writeFact({ text: "before", project: PROJECT }, options);
    const leaving = new AbortController();
    const told: string[] = [];
    let last = "";
    const watching = (async () => {
      const { headers } = await as(bob);
      for await (const { changes, cursor: next } of memory.watchFacts(
        { filter: { project: PROJECT } },
        { headers, signal: leaving.signal },
      )) {
        if (changes.length === 0) {
          await memory.writeFact({ text: "mine alone", scope: FactScope.PERSONAL }, options);
          await memory.writeFact({ text: "elsewhere", project: "/src/other" }, options);
          await memory.writeFact({ text: "ours", project: PROJECT }, options);
        }
        told.push(...changes.map(({ fact }) => fact!.text));
        last = next;
        if (told.includes("ours")) leaving.abort();
      }
    })();
    await expect(watching).rejects.toMatchObject({ code: Code.Canceled });
    expect(told).toEqual(["ours"]);

    for await (const { changes } of memory.watchFacts({ filter: { project: PROJECT }, cursor }, options)) {
      expect(changes.map(({ fact }) => fact!.text)).toEqual(["before", "mine alone", "ours"]);
      break;
    }
    const stolen = memory.watchFacts({ filter: { project: PROJECT }, cursor: last }, options)[Symbol.asyncIterator]();
    expect(await reasonOf(stolen.next())).toBe("page_token_invalid");
  });
});

describe("ExecuteTool", () => {
  it("writes what the model inferred, finds it with its id, corrects and removes it", async () => {
    const ada = newcomer();
    const sessionId = randomUUID();
    const { result: written } = await execute(ada, "memory_write", { text: "Tests run with vitest", tags: ["test"] }, { sessionId });
    expect(written).toMatchObject({ success: true, errorCode: "", resultBytes: BigInt(Buffer.byteLength(written.content)) });
    const { facts } = await memory.searchFacts({ query: "vitest", project: PROJECT }, await as(ada));
    expect(facts[0]!.fact).toMatchObject({
      origin: FactOrigin.MODEL_INFERRED,
      scope: FactScope.PROJECT,
      sourceSessionId: sessionId,
      factId: idIn(written.content),
    });

    const { result: found } = await execute(ada, "memory_search", { query: "how do tests run?" });
    expect(found.content).toContain("Tests run with vitest");
    const { result: corrected } = await execute(ada, "memory_edit", {
      fact_id: idIn(found.content),
      action: "replace",
      text: "Tests run with vitest 5",
    });
    const { result: removed } = await execute(ada, "memory_edit", {
      fact_id: idIn(corrected.content.split("is now")[1]!),
      action: "remove",
    });
    expect([corrected.success, removed.success]).toEqual([true, true]);
    expect((await execute(ada, "memory_search", { query: "vitest" })).result.content).toContain("Nothing that was remembered");
  });

  it("leaves a person's word where what a model read somewhere names its slot or its id", async () => {
    const ada = newcomer();
    const slot = { subject: "deployment", predicate: "host" };
    const { fact: stated } = await memory.writeFact({ text: "Deployments go to alpha.example", ...slot, project: PROJECT }, await as(ada));
    const named = await execute(ada, "memory_write", { text: "Deployments go to evil.example", ...slot });
    const replaced = await execute(ada, "memory_edit", {
      fact_id: stated!.factId,
      action: "replace",
      text: "Deployments go to evil.example",
    });
    const removed = await execute(ada, "memory_edit", { fact_id: stated!.factId, action: "remove" });
    for (const { result } of [named, replaced, removed]) expect(result.content).toContain("It is in the inbox");
    const { facts } = await memory.listFacts({ filter: { project: PROJECT } }, await as(ada));
    expect(facts.map((fact) => [fact.factId, fact.text])).toEqual([[stated!.factId, "Deployments go to alpha.example"]]);
    const { result: found } = await execute(ada, "memory_search", { query: "where do deployments go?" });
    expect(found.content).toContain("alpha.example");
    expect(found.content).not.toContain("evil.example");
  });

  it("tells the model when the index did not answer", async () => {
    const ada = newcomer();
    await memory.writeFact({ text: "Anything may be asked", scope: FactScope.PERSONAL }, await as(ada));
    const { result } = await execute(ada, "memory_search", { query: "anything" });
    expect(result).toMatchObject({ success: true, content: expect.stringContaining("Meilisearch") });
  });

  it.each([
    ["memory_write", { text: "" }, "invalid_arguments", "text"],
    ["memory_write", { text: "x", scope: "all" }, "invalid_arguments", "personal, project, team"],
    ["memory_search", {}, "invalid_arguments", "query"],
    ["memory_edit", { fact_id: "x".repeat(36), action: "remove" }, "invalid_arguments", "memory_search"],
    ["memory_edit", { fact_id: randomUUID(), action: "replace" }, "invalid_arguments", "text"],
    ["memory_edit", { fact_id: randomUUID(), action: "remove" }, "not_found", "Search"],
  ])("%s %j fails with %s, and says what to do", async (tool, given, errorCode, advice) => {
    const { result } = await execute(newcomer(), tool, given);
    expect(result).toMatchObject({ success: false, errorCode, content: expect.stringContaining(advice) });
  });

  it("finds, reads and cites the person's sessions with other agents, and no one else's", async () => {
    const ada = newcomer();
    const head = { tool: "codex", session: "s1", title: "Pump", folder: "/src", machine: "", firstAsked: "" };
    const turns = ["Why does the pump stall?", "Its valve sticks."].map((text, ordinal) => ({
      key: String(ordinal),
      ordinal,
      text,
      saidAt: undefined,
    }));
    const viewer = { organization: ada.organization, principal: ada.id, project: "", mayWriteTeamFacts: false };
    await new PostgresTranscripts(test.database).put(viewer, head, [
      { ...turns[0]!, speaker: "person" },
      { ...turns[1]!, speaker: "assistant" },
    ]);
    const { result: found } = await execute(ada, "recall_sessions", { query: "pump stall" });
    expect(found).toMatchObject({
      success: true,
      trust: Trust.EXTERNAL,
      content: expect.stringContaining("tool codex, session s1, 2 turns"),
    });
    const { result: read } = await execute(ada, "get_session", { tool: "codex", session: "s1", from: 1 });
    expect(read.content).toContain("[turn 1, assistant] Its valve sticks.");
    const { result: cited } = await execute(ada, "cite_session", { tool: "codex", session: "s1", turn: 1 });
    expect(cited.content).toContain("(/memory/sources?tool=codex&session=s1&turn=1)");
    expect((await execute(newcomer(), "recall_sessions", { query: "pump stall" })).result.content).toContain("No earlier session");
    expect((await execute(newcomer(), "get_session", { tool: "codex", session: "s1" })).result).toMatchObject({
      success: false,
      errorCode: "not_found",
    });
  });

  it("runs nothing without a grant for exactly this call, once", async () => {
    const ada = newcomer();
    const given = { text: "Planted" };
    expect(await reasonOf(execute(ada, "memory_write", given, { grant: "none" }))).toBe("grant_refused");
    expect(await reasonOf(execute(ada, "memory_write", given, { grantFor: '{"text":"Something else"}' }))).toBe("grant_refused");
    expect(await reasonOf(execute(ada, "memory_write", given, { definitionHash: "0".repeat(64) }))).toBe("definition_changed");
    expect(await reasonOf(execute(ada, "read_file", { path: "a" }))).toBe("tool_unknown");
    expect((await memory.searchFacts({ query: "planted", project: PROJECT }, await as(ada))).facts).toEqual([]);

    const { send } = await execute(ada, "memory_write", given);
    expect(await reasonOf(send())).toBe("grant_refused");
  });

  it("never does a call twice: it answers what the call came to", async () => {
    const ada = newcomer();
    const call = { sessionId: randomUUID(), callId: "call-1" };
    const given = { text: "The port is 80", subject: "service", predicate: "port" };
    const all = await Promise.all(Array.from({ length: 5 }, () => execute(ada, "memory_write", given, call)));
    expect(new Set(all.map(({ result }) => result.content)).size).toBe(1);

    await execute(ada, "memory_write", { ...given, text: "The port is 81" });
    await execute(ada, "memory_write", given, call);
    const { facts } = await memory.searchFacts({ query: "port", project: PROJECT }, await as(ada));
    expect(facts.map(({ fact }) => fact!.text)).toEqual(["The port is 81"]);
    expect(await reasonOf(execute(ada, "memory_write", { text: "Another thing" }, call))).toBe("call_id_reused");
    expect(await reasonOf(execute({ ...ada, id: "user:bob" }, "memory_write", given, call))).toBe("call_id_reused");
  });

  it("lets a call be tried again that failed", async () => {
    const ada = newcomer();
    const call = { sessionId: randomUUID(), callId: "call-1" };
    const given = { fact_id: randomUUID(), action: "remove" };
    for (let n = 0; n < 2; n++) expect((await execute(ada, "memory_edit", given, call)).result.errorCode).toBe("not_found");
  });
});
