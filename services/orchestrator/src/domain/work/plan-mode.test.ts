import { fileURLToPath } from "node:url";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ApprovalKind, Decision, DecidingStep, PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { ReminderKind, StopReason, TodoSource, TodoStatus } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { Database } from "@hlvm/postgres/database";
import { createTestDatabase } from "@hlvm/testing/create-test-database";
import { valuesOf } from "../../testing/event-values.ts";
import { ada, startTestOrchestrator, type TestOrchestrator } from "../../testing/test-orchestrator.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
const PLAN = "# Plan\n1. Read a.txt\n2. Change a.txt";
const EDITED = "1. Change a.txt\n2. Run the tests";

let test: TestOrchestrator;
let database: Database;
let drop: () => Promise<void>;

beforeEach(async () => {
  const created = await createTestDatabase(MIGRATIONS);
  ({ database, drop } = created);
  test = await startTestOrchestrator(created.url, { HLVM_PARK_SECONDS: "1" });
});
afterEach(async () => {
  await test.stop();
  await drop();
});

/** A run in plan mode that proposes, writes its list and changes a file; policy asks a person about the plan. */
async function plannedRun() {
  const { behaviour } = test.fake;
  const { decide } = behaviour;
  const answered = Promise.withResolvers<Awaited<ReturnType<typeof behaviour.awaitApproval>>>();
  let taken: Awaited<typeof answered.promise> | undefined;
  behaviour.decide = (request) => {
    if (request.call!.tool !== "propose_plan") return decide(request);
    if (taken !== undefined) return taken;
    const approval = { approvalId: crypto.randomUUID(), callId: request.call!.callId, kind: ApprovalKind.PLAN };
    return { decision: Decision.ASK, approval: { ...approval, expiresAt: timestampFromDate(new Date(Date.now() + 60_000)) } };
  };
  behaviour.awaitApproval = async (_, { signal }) => {
    const gone = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => gone.reject(signal.reason as Error));
    return Promise.race([answered.promise, gone.promise]);
  };
  const todo = [
    { text: "change a.txt", status: "completed" },
    { text: "Run the tests", status: "pending" },
  ];
  test.answers(
    ["", [{ tool: "propose_plan", arguments: { plan: PLAN } }]],
    ["", [{ id: "write", tool: "write_file", arguments: { path: "a.txt", content: "b" } }]],
    ["", [{ id: "todo", tool: "todo", arguments: { items: todo } }]],
    ["Done."],
  );
  const run = await test.ask("Change it", { settings: { mode: PermissionMode.PLAN, canAsk: true } as never });
  const accept = (delegation: string) => {
    taken = {
      decision: Decision.ALLOW,
      step: DecidingStep.APPROVAL,
      grant: "granted",
      personAnswer: { text: EDITED, answeredBy: ada.id, mode: PermissionMode.ACCEPT_EDITS, delegation },
    };
    answered.resolve(taken);
    test.fake.tellAnswered(run.runId);
  };
  const parked = "SELECT FROM run WHERE run_id = $1 AND parked_until > now() AND ended_at IS NULL";
  const untilParked = async () => {
    await expect.poll(() => database.query(parked, [run.runId]), { timeout: 10_000 }).toHaveLength(1);
  };
  return { ...run, accept, untilParked, answered };
}

describe("a run in plan mode", { timeout: 30_000 }, () => {
  it("waits parked for its person, and goes on by what the edge signed, with the plan as it was accepted", async () => {
    const run = await plannedRun();
    await run.untilParked();
    run.accept(test.signFor(run, PermissionMode.ACCEPT_EDITS));
    const events = await test.watch(run.sessionId, run.sequence);

    expect(valuesOf(events, "reminder").map(({ kind }) => kind)).toEqual([ReminderKind.PLAN_MODE]);
    expect(valuesOf(events, "planCreated")).toMatchObject([{ text: PLAN, steps: ["Read a.txt", "Change a.txt"] }]);
    expect(valuesOf(events, "planAnswered")).toMatchObject([{ accepted: true, text: EDITED, mode: PermissionMode.ACCEPT_EDITS }]);
    const [result] = valuesOf(events, "toolEnd");
    expect(result!.result!.content).toContain(`${ada.id} accepted this plan, and the run goes on in the mode acceptEdits`);
    expect(result!.result!.content).toContain(EDITED);
    const lists = valuesOf(events, "todoUpdated");
    expect(lists.map(({ source }) => source)).toEqual([TodoSource.PLAN, TodoSource.TOOL]);
    expect(lists[0]!.items).toMatchObject([{ text: "Change a.txt", status: TodoStatus.PENDING }, { text: "Run the tests" }]);
    expect(valuesOf(events, "planStep")).toMatchObject([{ index: 1, step: "Change a.txt", completed: true }]);
    const { modes } = test.fake.seen;
    expect([...modes.values()]).toEqual([PermissionMode.PLAN, PermissionMode.ACCEPT_EDITS, PermissionMode.ACCEPT_EDITS]);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
  });

  it("gives its workers what it may do after the plan was accepted", async () => {
    const run = await plannedRun();
    await run.untilParked();
    const worker = { id: "w", tool: "spawn_worker", arguments: { profile: "file", task: "change it" } };
    test.answers(["The plan was proposed."], ["", [worker]], ["Done."]);
    run.accept(test.signFor(run, PermissionMode.ACCEPT_EDITS));
    const [spawned] = valuesOf(await test.watch(run.sessionId, run.sequence), "workerSpawned");
    const [started] = valuesOf(await test.watch(spawned!.childSessionId), "runStarted");
    expect(started!.settings!.mode).toBe(PermissionMode.ACCEPT_EDITS);
  });

  it.each([
    [
      "another run",
      (run: { sessionId: string }) => test.signFor({ ...run, runId: crypto.randomUUID() }, PermissionMode.BYPASS_PERMISSIONS),
    ],
    [
      "somebody else",
      (run: { sessionId: string; runId: string }) => test.signFor(run, PermissionMode.BYPASS_PERMISSIONS, { ...ada, id: "user:eve" }),
    ],
    ["nobody", () => "forged"],
  ])("does not go on by what was signed for %s", async (_, sign) => {
    const run = await plannedRun();
    await run.untilParked();
    run.accept(sign(run));
    const events = await test.watch(run.sessionId, run.sequence);
    expect(valuesOf(events, "planAnswered")).toEqual([]);
    expect([...new Set(test.fake.seen.modes.values())]).toEqual([PermissionMode.PLAN]);
  });

  it("goes on with the accepted plan where its process is killed after the answer was taken", async () => {
    const run = await plannedRun();
    const other = await test.startProcess();
    await expect.poll(async () => valuesOf(await readLog(run.sessionId), "planCreated")).toHaveLength(1);
    await test.orchestrator.stop("SIGKILL");
    run.accept(test.signFor(run, PermissionMode.ACCEPT_EDITS));
    test.orchestrator = other;
    const events = await test.watch(run.sessionId, run.sequence);
    expect(valuesOf(events, "planCreated")).toHaveLength(1);
    expect(valuesOf(events, "planAnswered")).toHaveLength(1);
    expect([...test.fake.seen.modes.values()].at(-1)).toBe(PermissionMode.ACCEPT_EDITS);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
  });

  it("keeps reading only where its plan is rejected, and hears why", async () => {
    const run = await plannedRun();
    const reason = `${ada.id} rejected the plan: Too much at once`;
    run.answered.resolve({ decision: Decision.DENY, step: DecidingStep.APPROVAL, reason });
    const events = await test.watch(run.sessionId, run.sequence);
    expect(valuesOf(events, "planAnswered")).toMatchObject([{ accepted: false, text: expect.stringContaining("Too much at once") }]);
    expect(valuesOf(events, "toolEnd")[0]!.result!.content).toMatch(/Too much at once[^]*propose another plan/);
    expect([...new Set(test.fake.seen.modes.values())]).toEqual([PermissionMode.PLAN]);
  });
});

async function readLog(sessionId: string) {
  const { client, as } = test.orchestrator;
  const events = [];
  for await (const response of client.watch({ sessionId, fromSequence: 1n }, await as(ada))) events.push(...response.events);
  return events;
}
