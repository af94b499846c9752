import { afterEach, describe, expect, it } from "vitest";
import { fileURLToPath } from "node:url";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { GetReceiptResponse_State as State } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { createTestDatabase } from "@hlvm/testing/create-test-database";
import { readCall } from "../../testing/read-call.ts";
import { startTestOrchestrator, type TestOrchestrator } from "../../testing/test-orchestrator.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
const POLL = { timeout: 20_000 };
const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function start() {
  const { database, drop, url } = await createTestDatabase(MIGRATIONS);
  cleanups.push(drop);
  const test = await startTestOrchestrator(url, { HLVM_SERVICE_WAIT_SECONDS: "1" });
  cleanups.push(test.stop);
  const isDue = () => database.query("UPDATE run SET reconcile_at = now() WHERE reconcile_at IS NOT NULL");
  const run = async () => (await database.query<{ reconcile_at: Date | null; delegation: string | null }>("SELECT * FROM run"))[0]!;
  return { test, database, isDue, run };
}

/** Kills the orchestrator while a tool runs, and has its run ended by whoever claims it. */
async function killed({ test, database }: { test: TestOrchestrator; database: { query: (sql: string) => Promise<unknown> } }) {
  test.answers(["", [readCall("a"), { id: "m", tool: "memory_write", arguments: { text: "t" } }]], ["Done."]);
  const running = Promise.withResolvers<void>();
  test.fake.behaviour.execute = async function* (_, { signal }) {
    running.resolve();
    yield { event: { case: "output", value: { text: "begun\n" } } };
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  };
  test.fake.behaviour.executeMemory = () => {
    throw new HlvmError({ code: "unavailable", reason: "gone", message: "gone" });
  };
  test.fake.behaviour.recordOutcome = unreachable;
  await test.ask("q", { stateless: true });
  await running.promise;
  await test.orchestrator.stop("SIGKILL");
  // As if it had ended every process that took it over.
  await database.query("UPDATE run SET fruitless_claims = 100, claimed_progress = 1");
  test.fake.seen.outcomes.length = 0;
}

function unreachable(): never {
  throw new HlvmError({ code: "unavailable", reason: "database_unreachable", message: "no audit" });
}

describe("the outcomes of a run whose orchestrator was killed", () => {
  it("are recorded by the next one, from receipts, also where it is killed meanwhile and policy is away", { timeout: 60_000 }, async () => {
    const started = await start();
    const { test, isDue, run, database } = started;
    await killed(started);
    test.fake.behaviour.receipt = (callId) =>
      callId.endsWith(".1") ? { state: State.DONE, result: { success: true, summary: "2 lines" } } : { state: State.NEVER_STARTED };
    let refused = 0;
    test.fake.behaviour.recordOutcome = () => {
      refused++;
      unreachable();
    };
    test.orchestrator = await test.startProcess();
    await expect.poll(run, POLL).toMatchObject({ stop_reason: StopReason.ERROR, delegation: expect.any(String) });
    await isDue();
    await expect.poll(() => refused, POLL).toBeGreaterThan(0);
    await test.orchestrator.stop("SIGKILL");
    // Stateless sessions go after a minute; what is needed for their outcomes does not.
    await database.query("UPDATE session SET updated_at = now() - interval '1 hour'");

    test.fake.behaviour.recordOutcome = () => undefined;
    await isDue();
    test.orchestrator = await test.startProcess();
    await expect
      .poll(() => test.fake.seen.outcomes.map(({ callId, status }) => [callId.replace(/^[^.]*/, "r"), status]), POLL)
      .toEqual(
        expect.arrayContaining([
          ["r.1.1", OutcomeStatus.SUCCEEDED],
          ["r.1.2", OutcomeStatus.UNKNOWN],
        ]),
      );
    // Nothing is left of its right to act for the person.
    await expect.poll(async () => (await database.query("SELECT FROM run WHERE delegation IS NOT NULL")).length, POLL).toBe(0);
  });
});

describe("the outcomes of a run that ended while policy was away", () => {
  it("are recorded when policy is back", { timeout: 60_000 }, async () => {
    const { test, isDue, run } = await start();
    test.answers(["", [readCall("a")]], ["Done."]);
    test.fake.behaviour.recordOutcome = unreachable;
    const { stopped } = await test.run();
    expect(stopped).toMatchObject({ reason: StopReason.ERROR, message: expect.stringContaining("could not be written to the audit log") });
    test.fake.behaviour.recordOutcome = () => undefined;
    await isDue();
    await expect
      .poll(() => test.fake.seen.outcomes, POLL)
      .toMatchObject([{ callId: expect.stringMatching(/\.1\.1$/), status: OutcomeStatus.SUCCEEDED, summary: "done" }]);
    await expect.poll(run, POLL).toMatchObject({ reconcile_at: null, delegation: null });
  });

  it("are not looked for where policy has them all: the run's delegation goes with its end", async () => {
    const { test, run } = await start();
    test.answers(["", [readCall("a")]], ["Done."]);
    await test.run();
    expect(await run()).toMatchObject({ reconcile_at: null, delegation: null });
  });
});
