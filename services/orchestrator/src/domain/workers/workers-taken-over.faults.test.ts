import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { createTestDatabase } from "@hlvm/testing/create-test-database";
import { valuesOf } from "../../testing/event-values.ts";
import { say } from "../../testing/say.ts";
import { scriptByTask, taskOf } from "../../testing/script-by-task.ts";
import { untilBegun } from "../../testing/until-begun.ts";
import { startTestOrchestrator, type TestOrchestrator } from "../../testing/test-orchestrator.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function start(): Promise<TestOrchestrator> {
  const { url, drop } = await createTestDatabase(MIGRATIONS);
  cleanups.push(drop);
  const test = await startTestOrchestrator(url);
  cleanups.push(test.stop);
  return test;
}

const isCase = (type: Event["payload"]["case"]) => (event: Event) => event.payload.case === type;
const spawn = (task: string) => ({ id: task, tool: "spawn_worker", arguments: { profile: "explore", task } });

/** A run whose one worker's model answers when the test lets it. */
async function runningWorker(test: TestOrchestrator) {
  const gate = Promise.withResolvers<void>();
  scriptByTask(test.fake.behaviour, {
    q: [["", [spawn("look")]], ["Done."]],
    look: [
      async function* (signal) {
        yield { event: { case: "textDelta", value: "Well, " } };
        await Promise.race([gate.promise, new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }))]);
        signal.throwIfAborted();
        yield* say("I looked.");
      },
    ],
  });
  const asked = await test.ask("q");
  const [worker] = valuesOf(await test.watch(asked.sessionId, 1n, isCase("workerSpawned")), "workerSpawned");
  await untilBegun(test, worker!.childSessionId);
  await test.watch(worker!.childSessionId, 1n, isCase("messageDelta"));
  return { ...asked, worker: worker!, answer: gate.resolve };
}

describe("a run that waits for a worker", () => {
  it("finds its worker again after kill -9, and starts no second one", async () => {
    const test = await start();
    const { sessionId, worker, answer } = await runningWorker(test);
    await test.orchestrator.stop("SIGKILL");
    test.orchestrator = await test.startProcess();
    await test.watch(worker.childSessionId, 1n, isCase("runTakenOver"));
    answer();
    const events = await test.watch(sessionId);
    expect(valuesOf(events, "workerSpawned")).toHaveLength(1);
    expect(valuesOf(events, "workerCompleted")).toMatchObject([{ childRunId: worker.childRunId, stopReason: StopReason.COMPLETED }]);
    expect(valuesOf(events, "toolEnd")[0]!.result!.content).toContain("I looked.");
    expect(valuesOf(await test.watch(worker.childSessionId), "userMessage")).toHaveLength(1);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "Done." }]);
  });

  it("is handed over with its worker, and another process goes on with both", async () => {
    const test = await start();
    const { sessionId, worker, answer } = await runningWorker(test);
    const other = await test.startProcess();
    cleanups.push(() => other.stop());
    await test.orchestrator.stop();
    test.orchestrator = other;
    answer();
    expect(valuesOf(await test.watch(worker.childSessionId), "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
    const events = await test.watch(sessionId);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "Done." }]);
    expect(valuesOf(events, "workerCompleted").map(({ childRunId }) => childRunId)).toEqual([worker.childRunId]);
    expect(valuesOf(events, "toolEnd")[0]!.result!.content).toContain("I looked.");
    const tasks = test.fake.seen.requests.map(taskOf);
    expect(tasks.filter((task) => task === "q")).toHaveLength(2);
  });
});
