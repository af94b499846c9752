import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import type { Principal } from "@hlvm/identity/principal";
import { Role } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { valuesOf } from "../testing/event-values.ts";
import { say } from "../testing/say.ts";
import { ada, startTestOrchestrator, type TestOrchestrator } from "../testing/test-orchestrator.ts";

const MIGRATIONS = fileURLToPath(new URL("../../migrations", import.meta.url));
const eve: Principal = { organization: "other", id: "user:eve", roles: ["admin"] };
const settings = { mode: PermissionMode.DEFAULT };
let database: TestDatabase;
let test: TestOrchestrator;
let usual: TestOrchestrator["fake"]["behaviour"];

beforeAll(async () => {
  database = await createTestDatabase(MIGRATIONS);
  test = await startTestOrchestrator(database.url);
  usual = { ...test.fake.behaviour };
});

afterEach(() => {
  Object.assign(test.fake.behaviour, usual);
  const { seen } = test.fake;
  for (const list of [seen.requests, seen.decided, seen.executed, seen.outcomes, seen.opened, seen.closed]) list.length = 0;
});

afterAll(async () => {
  await test.stop();
  await database.drop();
});

/** A model that says one word, and its end when the test lets it. */
function pausedModel(): () => void {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  test.fake.behaviour.generate = async function* (_, __, { signal }) {
    yield { event: { case: "textDelta", value: "Well, " } };
    await Promise.race([released, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
    yield* say("here it is.");
  };
  return release;
}

async function finished(prompt: string, more: Parameters<TestOrchestrator["ask"]>[1] = {}) {
  const started = await test.ask(prompt, more);
  return { ...started, events: await test.watch(started.sessionId, started.sequence) };
}

describe("StartRun", () => {
  it("makes nothing where the workspace or the model is not there", async () => {
    test.fake.behaviour.openWorkspace = (path) => {
      throw new HlvmError({
        code: "not_found",
        reason: "workspace_not_found",
        message: `There is no folder ${path}.`,
        advice: "Name one.",
      });
    };
    await expect(test.ask("q", { workspace: "/nowhere" })).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: "There is no folder /nowhere.",
    });
    test.fake.behaviour.openWorkspace = usual.openWorkspace;
    test.fake.behaviour.model = undefined;
    await expect(test.ask("q")).rejects.toMatchObject({ rawMessage: "The model gateway named no model." });
    expect(test.fake.seen.closed).toEqual(test.fake.seen.opened);
    expect(await database.database.query("SELECT FROM session")).toEqual([]);
    expect(test.fake.seen.requests).toEqual([]);
  });

  it("refuses requests that mean nothing, and callers without a token", async () => {
    await expect(test.ask("q", { workspace: "" })).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: "A new session needs a workspace.",
    });
    await expect(test.ask("q", { workspace: "relative" })).rejects.toMatchObject({ code: Code.InvalidArgument });
    await expect(test.ask("q", { sessionId: randomUUID() })).rejects.toMatchObject({ code: Code.NotFound });
    await expect(test.orchestrator.client.startRun({ prompt: "q", workspace: "/w", settings })).rejects.toMatchObject({
      code: Code.Unauthenticated,
    });
  });

  it("goes on with the conversation: the same prefix, memory replaced and not stacked", async () => {
    test.fake.behaviour.recall = (query) => ({ facts: [{ text: `fact for ${query}` }] });
    test.fake.behaviour.generate = (_, call) =>
      call === 1 ? say("I look.", [{ id: "p1", tool: "read_file", arguments: { path: "a" } }]) : say(`answer ${call}`);
    const first = await finished("one");
    const second = await finished("two", { sessionId: first.sessionId });

    const hashes = [first, second].map(({ events }) => valuesOf(events, "runStarted")[0]!.prefixHash);
    expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(hashes[1]).toBe(hashes[0]);
    const { requests } = test.fake.seen;
    expect(requests).toHaveLength(3);
    for (const request of requests) {
      expect(request.messages[0]).toEqual(requests[0]!.messages[0]);
      expect(request.tools).toEqual(requests[0]!.tools);
    }
    const memories = requests[2]!.messages.filter(({ role }) => role === Role.SYSTEM).slice(1);
    expect(memories.map(({ parts }) => parts[0]!.part.value)).toEqual([expect.stringMatching(/^# Your Memory\n[^]*fact for two/)]);
    const conversation = requests[2]!.messages.filter(({ role }) => role !== Role.SYSTEM);
    expect(conversation.map(({ role }) => role)).toEqual([Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT, Role.USER]);
    expect(conversation.slice(0, 3)).toEqual(requests[1]!.messages.filter(({ role }) => role !== Role.SYSTEM));
    expect(second.sequence).toBe(BigInt(first.events.length + 1));
  });

  it("refuses a second run while one is going on, and says how to follow it", async () => {
    const release = pausedModel();
    const { sessionId, sequence } = await test.ask("one");
    await expect(test.ask("two", { sessionId })).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining("still going on"),
    });
    release();
    await test.watch(sessionId, sequence);
    await finished("two", { sessionId });
  });

  it("refuses to resume in another workspace", async () => {
    test.fake.behaviour.generate = () => say("hi");
    const { sessionId } = await finished("one");
    await expect(test.ask("two", { sessionId, workspace: "/elsewhere" })).rejects.toMatchObject({
      rawMessage: expect.stringContaining("works in /work, not in /elsewhere"),
    });
  });

  it("keeps a stateless session to itself and deletes it", async () => {
    test.fake.behaviour.recall = () => Promise.reject(new Error("must not be asked"));
    test.fake.behaviour.generate = () => say("hi");
    const { sessionId, events } = await finished("secret", { stateless: true });
    expect(valuesOf(events, "memoryActivity")).toEqual([]);
    expect(test.fake.seen.requests[0]!.tools.map(({ name }) => name)).not.toContain("memory_write");
    const { sessions } = await test.orchestrator.client.listSessions({}, await test.orchestrator.as(ada));
    expect(sessions.map((session) => session.sessionId)).not.toContain(sessionId);
    await expect(test.ask("again", { sessionId })).rejects.toMatchObject({ code: Code.FailedPrecondition });
    await expect.poll(() => test.fake.seen.closed).toEqual([sessionId]);
    await database.database.query("UPDATE session SET updated_at = now() - interval '61 seconds' WHERE session_id = $1", [sessionId]);
    await expect
      .poll(() => database.database.query("SELECT FROM session WHERE session_id = $1", [sessionId]), { timeout: 10_000 })
      .toEqual([]);
  });
});

describe("Watch", () => {
  it("follows live, and goes on after a cut at the number last seen", async () => {
    const release = pausedModel();
    const { sessionId } = await test.ask("q");
    const before = await test.watch(sessionId, 0n, ({ payload }) => payload.case === "messageDelta");
    release();
    const after = await test.watch(sessionId, before.at(-1)!.sequence + 1n);
    const all = await test.watch(sessionId, 1n);
    expect([...before, ...after]).toEqual(all);
    expect(
      valuesOf(after, "messageDelta")
        .map(({ text }) => text)
        .join(""),
    ).toBe("here it is.");
  });

  it("ends with the log where nobody wants to follow", async () => {
    test.fake.behaviour.generate = () => say("hi");
    const { sessionId, events } = await finished("q");
    const options = await test.orchestrator.as(ada);
    const seen = [];
    for await (const response of test.orchestrator.client.watch({ sessionId, fromSequence: 2n }, options)) seen.push(...response.events);
    expect(seen).toEqual(events.slice(1));
  });

  it("is followed through another replica", async () => {
    const other = await test.startProcess();
    const release = pausedModel();
    const { sessionId } = await test.ask("q");
    const seen: (string | undefined)[] = [];
    for await (const { events } of other.client.watch({ sessionId, follow: true }, await other.as(ada))) {
      seen.push(...events.map(({ payload }) => payload.case));
      if (seen.includes("messageDelta")) release();
      if (seen.includes("runStopped")) break;
    }
    expect(seen.at(-1)).toBe("runStopped");
    await other.stop();
  });

  it("shows nothing to another organization", async () => {
    test.fake.behaviour.generate = () => say("hi");
    const { sessionId, runId } = await finished("q");
    const options = await test.orchestrator.as(eve);
    const { client } = test.orchestrator;
    const watching = (async () => {
      for await (const event of client.watch({ sessionId }, options)) return event;
    })();
    const refused = await Promise.allSettled([
      watching,
      client.getSession({ sessionId }, options),
      client.cancelRun({ sessionId, runId }, options),
      client.startRun({ sessionId, prompt: "q", settings }, options),
    ]);
    for (const call of refused) expect(call).toMatchObject({ status: "rejected", reason: { code: Code.NotFound } });
    expect((await client.listSessions({}, options)).sessions).toEqual([]);
  });
});

describe("CancelRun", () => {
  const cancel = async (sessionId: string, runId: string, through = test.orchestrator) =>
    through.client.cancelRun({ sessionId, runId }, await through.as(ada));

  it("stops the model and keeps what it said", async () => {
    let isAborted = false;
    test.fake.behaviour.generate = async function* (_, __, { signal }) {
      yield { event: { case: "textDelta", value: "Half" } };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      isAborted = true;
    };
    const { sessionId, runId, sequence } = await test.ask("q");
    await test.watch(sessionId, sequence, ({ payload }) => payload.case === "messageDelta");
    expect(await cancel(sessionId, runId)).toMatchObject({ cancelled: true });
    const events = await test.watch(sessionId, sequence);
    await expect.poll(() => isAborted).toBe(true);
    expect(valuesOf(events, "runStopped")).toMatchObject([
      { reason: StopReason.USER_CANCELLED, text: "Half", advice: expect.stringContaining(`--resume ${sessionId}`) },
    ]);
    expect(await cancel(sessionId, runId)).toMatchObject({ cancelled: false });
  });

  it.each(["the replica that runs it", "another replica"])("stops the tools through %s, and every call has its end", async (through) => {
    let isAborted = false;
    test.fake.behaviour.generate = () =>
      say("", [
        { id: "1", tool: "shell_exec", arguments: { command: "sleep 60" } },
        { id: "2", tool: "git_status", arguments: {} },
      ]);
    test.fake.behaviour.execute = async function* ({ call }, { signal }) {
      if (call!.tool === "git_status") return yield { event: { case: "result", value: { success: true, content: "clean" } } };
      yield { event: { case: "output", value: { text: "sleeping" } } };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      isAborted = true;
    };
    const other = through === "another replica" ? await test.startProcess() : undefined;
    const { sessionId, runId, sequence } = await test.ask("q");
    await test.watch(sessionId, sequence, ({ payload }) => payload.case === "toolOutput");
    await cancel(sessionId, runId, other);
    const events = await test.watch(sessionId, sequence);
    await expect.poll(() => isAborted).toBe(true);
    expect(valuesOf(events, "toolEnd").map(({ tool, result }) => [tool, result!.errorCode])).toEqual([
      ["shell_exec", "cancelled"],
      ["git_status", ""],
    ]);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.USER_CANCELLED }]);
    expect(test.fake.seen.outcomes).toHaveLength(2);
    await other?.stop();
  });

  it("ends a wait for a person", async () => {
    test.fake.behaviour.generate = () => say("", [{ tool: "shell_exec", arguments: { command: "make" } }]);
    test.fake.behaviour.decide = () => ({ decision: 2, approval: { approvalId: randomUUID() } });
    test.fake.behaviour.awaitApproval = (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new ConnectError("gone", Code.Canceled))));
    const { sessionId, runId, sequence } = await test.ask("q");
    await test.watch(sessionId, sequence, ({ payload }) => payload.case === "permissionCheck");
    await cancel(sessionId, runId);
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "toolEnd")).toMatchObject([{ result: { errorCode: "cancelled" } }]);
    expect(test.fake.seen.executed).toEqual([]);
  });
});

describe("ListSessions and GetSession", () => {
  it("tell of the caller's sessions, the one changed last first", async () => {
    test.fake.behaviour.generate = () => say("hi");
    const first = await finished("first\nquestion");
    const second = await finished("second");
    await finished("more", { sessionId: first.sessionId });
    const options = await test.orchestrator.as(ada);
    const { sessions } = await test.orchestrator.client.listSessions({ limit: 2 }, options);
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([first.sessionId, second.sessionId]);
    const { session } = await test.orchestrator.client.getSession({ sessionId: first.sessionId }, options);
    expect(session).toMatchObject({
      title: "first question",
      owner: "user:ada",
      workspace: "/work",
      model: "test/model",
      runningRunId: "",
      lastStopReason: StopReason.COMPLETED,
    });
    expect(session).toEqual(sessions[0]);
  });
});
