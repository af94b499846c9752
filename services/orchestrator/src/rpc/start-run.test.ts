import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { ModelService } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { Decision, PermissionMode, PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { MemoryService, type ExecuteToolRequest } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { valuesOf } from "../testing/event-values.ts";
import { allow, refuse } from "../testing/fake-services.ts";
import { say, type SaidCall } from "../testing/say.ts";
import { ada, startTestOrchestrator, type TestOrchestrator } from "../testing/test-orchestrator.ts";

const MIGRATIONS = fileURLToPath(new URL("../../migrations", import.meta.url));
const write: SaidCall = { id: "write", tool: "memory_write", arguments: { text: "We deploy on Thursdays" } };
const shell: SaidCall = { id: "shell", tool: "shell_exec", arguments: { command: "make" } };
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
  const { seen, bound } = test.fake;
  for (const list of [seen.requests, seen.executed, seen.opened, seen.closed]) list.length = 0;
  seen.traces.clear();
  bound.clear();
});

afterAll(async () => {
  await test.stop();
  await database.drop();
});

/** The model makes these calls, and answers then. */
function callThenAnswer(...calls: readonly SaidCall[]): void {
  test.fake.behaviour.generate = (_, call) => (call === 1 ? say("", calls) : say("Done."));
}

async function run(more: Parameters<TestOrchestrator["ask"]>[1] = {}): Promise<{ sessionId: string; events: Event[] }> {
  const { sessionId, sequence } = await test.ask("q", more);
  return { sessionId, events: await test.watch(sessionId, sequence) };
}

describe("StartRun", () => {
  it("never binds a session to another folder than its own, also in a sandbox that was started anew", async () => {
    const { fake } = test;
    fake.behaviour.generate = () => say("Hi.");
    const { sessionId } = await run();
    fake.bound.clear();
    fake.seen.opened.length = 0;
    await expect(test.ask("q", { sessionId, workspace: "/elsewhere" })).rejects.toMatchObject({
      rawMessage: expect.stringContaining("works in /work, not in /elsewhere"),
    });
    expect(fake.seen.opened).not.toContain(sessionId);
    expect([...fake.bound]).toEqual([]);
    await run({ sessionId });
    expect([...fake.bound]).toEqual([[sessionId, "/work"]]);
  });

  it("resumes in the session's folder also where it is named in another way", async () => {
    const { fake } = test;
    fake.behaviour.openWorkspace = (path, sessionId) => usual.openWorkspace(path === "/link" ? "/work" : path, sessionId);
    fake.behaviour.generate = () => say("Hi.");
    const { sessionId } = await run();
    await run({ sessionId, workspace: "/link" });
    expect([...fake.bound]).toEqual([[sessionId, "/work"]]);
  });

  it("leaves nothing bound where the session's folder has become a link to another one", async () => {
    const { fake } = test;
    fake.behaviour.generate = () => say("Hi.");
    const { sessionId } = await run();
    fake.bound.clear();
    fake.behaviour.openWorkspace = (_, id) => usual.openWorkspace("/elsewhere", id);
    await expect(test.ask("q", { sessionId })).rejects.toMatchObject({ rawMessage: expect.stringContaining("not in /elsewhere") });
    expect([...fake.bound]).toEqual([]);
  });

  it("leaves no workspace open where the run could not be written", async () => {
    await database.database.query("ALTER TABLE session ADD CONSTRAINT refused CHECK (title <> 'Not this one.')");
    await expect(test.ask("Not this one.")).rejects.toThrow();
    expect(test.fake.seen.opened).toHaveLength(1);
    expect([...test.fake.bound]).toEqual([]);
  });

  it("keeps the workspace of a session whose run is going on open, where another one is refused", async () => {
    const { fake } = test;
    const released = Promise.withResolvers<void>();
    fake.behaviour.generate = async function* () {
      await released.promise;
      yield* say("Hi.");
    };
    const { sessionId, sequence } = await test.ask("q");
    await expect(test.ask("q", { sessionId })).rejects.toMatchObject({ rawMessage: expect.stringContaining("still going on") });
    expect([...fake.bound]).toEqual([[sessionId, "/work"]]);
    released.resolve();
    await test.watch(sessionId, sequence);
  });
});

describe("a run", () => {
  it("that is stateless closes its workspace also where it has lost its lease", async () => {
    const { fake } = test;
    const released = Promise.withResolvers<void>();
    fake.behaviour.generate = async function* () {
      yield { event: { case: "textDelta", value: "Well, " } };
      await released.promise;
      yield* say("here it is.");
    };
    const { sessionId, runId, sequence } = await test.ask("q", { stateless: true });
    await test.watch(sessionId, sequence, ({ payload }) => payload.case === "messageDelta");
    await database.database.query("UPDATE run SET lease_owner = gen_random_uuid() WHERE run_id = $1", [runId]);
    released.resolve();
    await expect.poll(() => [...fake.bound]).toEqual([]);
    expect(fake.seen.closed).toEqual([sessionId]);
  });

  it("hands the trace of its caller on to every service", async () => {
    const { behaviour, seen } = test.fake;
    const traceId = "0123456789abcdef0123456789abcdef";
    const { headers } = await test.orchestrator.as(ada);
    const traced = { headers: { ...headers, traceparent: `00-${traceId}-0123456789abcdef-01` } };
    const request = { prompt: "q", workspace: "/work", settings: { mode: PermissionMode.DEFAULT, canAsk: true } };
    behaviour.model = undefined;
    await expect(test.orchestrator.client.startRun(request, traced)).rejects.toThrow("named no model");

    behaviour.model = usual.model;
    callThenAnswer(write, shell);
    behaviour.decide = (asked) =>
      asked.call!.tool === "shell_exec" ? { decision: Decision.ASK, approval: { approvalId: crypto.randomUUID() } } : allow(asked);
    behaviour.awaitApproval = async () => ({ decision: Decision.ALLOW, grant: "granted" });
    behaviour.execute = () => refuse(new HlvmError({ code: "unavailable", reason: "gone", message: "gone" }));
    const { sessionId, sequence } = await test.orchestrator.client.startRun(request, traced);
    await test.watch(sessionId, sequence);

    const methods = {
      [ModelService.name]: ["ResolveModel", "Generate"],
      [PolicyService.name]: ["Decide", "AwaitApproval"],
      [AuditService.name]: ["RecordOutcome"],
      [SandboxService.name]: ["OpenWorkspace", "CloseWorkspace", "Execute", "GetReceipt"],
      [MemoryService.name]: ["Recall", "ExecuteTool"],
    };
    const called = Object.entries(methods).flatMap(([service, names]) => names.map((name) => `${service}/${name}`));
    expect(seen.traces).toEqual(new Map(called.map((method) => [method, new Set([traceId])])));
  });

  it("has memory run its memory tools, with their grant and for its project, and shows what was written", async () => {
    const { behaviour, seen } = test.fake;
    const asked: ExecuteToolRequest[] = [];
    const search: SaidCall = { id: "search", tool: "memory_search", arguments: { query: "deploy" } };
    callThenAnswer(write, search);
    behaviour.executeMemory = (request) => {
      asked.push(request);
      return { success: true, content: `result of ${request.call!.tool}` };
    };
    const { sessionId, events } = await run();
    const byTool = Object.fromEntries(asked.map((request) => [request.call!.tool, request]));
    for (const [tool, argumentsJson] of [
      ["memory_write", '{"text":"We deploy on Thursdays"}'],
      ["memory_search", '{"query":"deploy"}'],
    ] as const)
      expect(byTool[tool]).toMatchObject({
        grant: `grant for ${byTool[tool]!.call!.callId}`,
        project: "/work",
        call: { sessionId, argumentsJson },
      });
    expect(seen.executed).toEqual([]);
    expect(valuesOf(events, "toolEnd").map(({ result }) => result!.content)).toEqual(["result of memory_write", "result of memory_search"]);
    expect(valuesOf(events, "memoryActivity")).toMatchObject([{ written: ["We deploy on Thursdays"] }]);
  });

  it("says of a memory tool that failed that nothing was written", async () => {
    callThenAnswer(write);
    test.fake.behaviour.executeMemory = () => ({ success: false, content: "Too many facts.", errorCode: "unavailable" });
    const { events } = await run();
    expect(valuesOf(events, "toolEnd")).toMatchObject([{ result: { success: false } }]);
    expect(valuesOf(events, "memoryActivity")).toEqual([]);
  });
});
