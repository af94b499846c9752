import { expect, it } from "vitest";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { valuesOf } from "../../testing/event-values.ts";
import { pauseModel } from "../../testing/pause-model.ts";
import { isCase, useReplaceableProcess } from "../../testing/replaceable-process.ts";

const start = useReplaceableProcess();

it("runs that wait for room are begun by the next process when the one where they were asked is killed", async () => {
  const { test, kill } = await start({ HLVM_MAXIMUM_RUNS: "1" });
  pauseModel(test.fake.behaviour);
  const held = await test.ask("first");
  await test.watch(held.sessionId, 1n, isCase("messageDelta"));
  const waiting = [await test.ask("second"), await test.ask("third")];
  await kill();
  test.answers(["Done."]);
  test.orchestrator = await test.startProcess();
  expect(valuesOf(await test.watch(held.sessionId), "runTakenOver")).toHaveLength(1);
  for (const { sessionId } of waiting) {
    const events = await test.watch(sessionId);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "Done." }]);
    expect(valuesOf(events, "userMessage")).toHaveLength(1);
    expect(valuesOf(events, "runTakenOver")).toEqual([]);
  }
});

it("a run that waits for room goes on where another process has some", async () => {
  const { test } = await start({ HLVM_MAXIMUM_RUNS: "1" });
  pauseModel(test.fake.behaviour);
  const held = await test.ask("first");
  await test.watch(held.sessionId, 1n, isCase("messageDelta"));
  const waiting = await test.ask("second");
  const other = await test.startProcess();
  test.answers(["Done."]);
  expect(valuesOf(await test.watch(waiting.sessionId), "runStopped")).toMatchObject([{ text: "Done." }]);
  await test.cancel(held);
  await other.stop();
});
