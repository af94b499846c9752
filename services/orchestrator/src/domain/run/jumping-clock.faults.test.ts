import { fileURLToPath } from "node:url";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, describe, expect, it } from "vitest";
import type { Database } from "@hlvm/postgres/database";
import { Decision, DecidingStep } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { createTestDatabase } from "@hlvm/testing/create-test-database";
import { valuesOf } from "../../testing/event-values.ts";
import { pauseModel } from "../../testing/pause-model.ts";
import { readCall } from "../../testing/read-call.ts";
import { startTestOrchestrator, type TestOrchestrator } from "../../testing/test-orchestrator.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
const CLOCK = new URL("../../testing/jumping-clock.ts", import.meta.url).href;
/** Longer than leases, which are of three seconds, and less than at which others refuse its tokens. */
const JUMPS = [25, -25];

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function start(seconds: number): Promise<{ readonly test: TestOrchestrator; readonly database: Database }> {
  const { database, url, drop } = await createTestDatabase(MIGRATIONS);
  cleanups.push(drop);
  const clock = { NODE_OPTIONS: `--import ${CLOCK}`, HLVM_TEST_CLOCK_JUMP_SECONDS: String(seconds) };
  const test = await startTestOrchestrator(url, clock);
  cleanups.push(test.stop);
  return { test, database };
}

const jump = (test: TestOrchestrator): void => void process.kill(test.orchestrator.pid, "SIGUSR2");
const isCase = (type: Event["payload"]["case"]) => (event: Event) => event.payload.case === type;

/** Until every process has renewed its lease so often that one which counted by the clock that jumped would have lost it. */
async function renewedOften(database: Database): Promise<void> {
  const soonest = async (): Promise<number> => {
    const [row] = await database.query<{ until: number }>("SELECT extract(epoch FROM min(lease_until))::float AS until FROM replica");
    return row!.until;
  };
  const before = await soonest();
  await expect.poll(soonest, { timeout: 20_000 }).toBeGreaterThan(before + 4);
}

describe.each(JUMPS)("an orchestrator whose clock jumps by %d s", (seconds) => {
  it("keeps its runs, and takes none from another", { timeout: 60_000 }, async () => {
    const { test, database } = await start(seconds);
    const release = pauseModel(test.fake.behaviour);
    const mine = await test.ask("one");
    await test.watch(mine.sessionId, mine.sequence, isCase("messageDelta"));
    const other = await test.startProcess();
    cleanups.push(() => other.stop());
    jump(test);
    await renewedOften(database);
    release();
    const events = await test.watch(mine.sessionId, mine.sequence);
    expect(events.filter(isCase("runTakenOver"))).toEqual([]);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
  });

  it("is replaced as any other when it ends, and replaces others", { timeout: 60_000 }, async () => {
    const { test } = await start(seconds);
    pauseModel(test.fake.behaviour);
    const { sessionId, sequence } = await test.ask("one");
    await test.watch(sessionId, sequence, isCase("messageDelta"));
    jump(test);
    const before = test.orchestrator;
    test.orchestrator = await test.startProcess();
    jump(test);
    test.answers(["Done."]);
    await before.stop("SIGKILL");
    const events = await test.watch(sessionId, sequence);
    expect(events.filter(isCase("runTakenOver"))).toHaveLength(1);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "Done." }]);
  });

  it("goes on waiting for a person's answer", async () => {
    const { test } = await start(seconds);
    test.answers(["", [readCall("a")]], ["Done."]);
    const approval = { approvalId: crypto.randomUUID(), expiresAt: timestampFromMs(Date.now() + 10_000) };
    test.fake.behaviour.decide = () => ({ decision: Decision.ASK, step: DecidingStep.MODE, approval });
    let asked = 0;
    test.fake.behaviour.awaitApproval = async () => {
      jump(test);
      if (++asked < 3) throw new ConnectError("not yet", Code.DeadlineExceeded);
      return { decision: Decision.ALLOW, step: DecidingStep.APPROVAL, grant: "granted" };
    };
    const { stopped, results } = await test.run();
    expect(stopped.reason).toBe(StopReason.COMPLETED);
    expect([asked, results[0]!.success]).toEqual([3, true]);
  });
});
