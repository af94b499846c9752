import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import { Role } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { createTestDatabase } from "@hlvm/testing/create-test-database";
import { valuesOf } from "../../testing/event-values.ts";
import { runCallsOnce } from "../../testing/run-calls-once.ts";
import { ada, startTestOrchestrator, type TestOrchestrator } from "../../testing/test-orchestrator.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
const DONE = { success: true, content: "made", summary: "made" };
const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** A run whose call goes on while somebody sends it a message, and whose process is then killed. */
async function killedRun(
  interrupt: boolean,
): Promise<{ test: TestOrchestrator; sessionId: string; sequence: bigint; endCall: () => void }> {
  const { url, drop } = await createTestDatabase(MIGRATIONS);
  cleanups.push(drop);
  const test = await startTestOrchestrator(url);
  cleanups.push(test.stop);
  const gate = Promise.withResolvers<void>();
  test.answers(["I run it.", [{ id: "1", tool: "shell_exec", arguments: { command: "make" } }]], ["Done."]);
  runCallsOnce(test.fake.behaviour, () => gate.promise.then(() => DONE));
  const { sessionId, sequence } = await test.ask("q");
  await test.watch(sessionId, sequence, ({ payload }) => payload.case === "toolOutput");
  // A process that stands still is told of the message and has no time to act on it.
  process.kill(test.orchestrator.pid, "SIGSTOP");
  const other = await test.startProcess();
  await other.client.sendMessage({ sessionId, text: "from before", interrupt }, await other.as(ada));
  await test.orchestrator.stop("SIGKILL");
  test.orchestrator = other;
  return { test, sessionId, sequence, endCall: gate.resolve };
}

it.each([false, true])(
  "a message that its process had no time to read is read by the next one, once (it interrupts: %s)",
  async (interrupt) => {
    const { test, sessionId, sequence, endCall } = await killedRun(interrupt);
    if (!interrupt) {
      await test.watch(sessionId, sequence, ({ payload }) => payload.case === "runTakenOver");
      endCall();
    }
    const events = await test.watch(sessionId, sequence);
    endCall();
    expect(valuesOf(events, "userMessage").map(({ text, author }) => [text, author])).toEqual([
      ["q", ""],
      ["from before", "user:ada"],
    ]);
    expect(valuesOf(events, "toolEnd")).toMatchObject([{ result: interrupt ? { errorCode: "cancelled" } : DONE }]);
    const { messages } = test.fake.seen.requests.at(-1)!;
    expect(messages.at(-1)).toMatchObject({ role: Role.USER, parts: [{ part: { value: "from before" } }] });
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "Done." }]);
  },
);
