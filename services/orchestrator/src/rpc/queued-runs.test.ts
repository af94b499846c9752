import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ReplaySchema, Replay_Kind as Kind, StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { valuesOf } from "../testing/event-values.ts";
import { pauseModel } from "../testing/pause-model.ts";
import { readCall } from "../testing/read-call.ts";
import { say } from "../testing/say.ts";
import { scriptByTask } from "../testing/script-by-task.ts";
import { useTestOrchestrator } from "../testing/use-test-orchestrator.ts";

const test = useTestOrchestrator({ HLVM_MAXIMUM_RUNS: "2" });

const isCase = (type: Event["payload"]["case"]) => (event: Event) => event.payload.case === type;

/** As many runs as there is room for, whose model answers when the test lets it. */
async function fill() {
  const answer = pauseModel(test.fake.behaviour);
  const all = [await test.ask("first"), await test.ask("second")];
  for (const { sessionId } of all) await test.watch(sessionId, 1n, isCase("messageDelta"));
  return { all, answer };
}

describe("runs that begin where as many are under way as there may be", () => {
  it("wait, say so, and go on one after the other when others have ended", async () => {
    const { all, answer } = await fill();
    const waiting = await Promise.all(["third", "fourth", "fifth"].map((question) => test.ask(question)));
    for (const { sessionId } of waiting) await test.watch(sessionId, 1n, isCase("runQueued"));
    expect(test.fake.seen.requests).toHaveLength(2);
    answer();
    for (const { sessionId } of [...all, ...waiting]) {
      const events = await test.watch(sessionId);
      expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "Well, here it is." }]);
      expect(valuesOf(events, "runQueued")).toHaveLength(all.some((run) => run.sessionId === sessionId) ? 0 : 1);
      expect(valuesOf(events, "runTakenOver")).toEqual([]);
    }
    expect(test.fake.seen.requests).toHaveLength(5);
    // And whoever comes then finds room.
    expect(valuesOf((await test.run("sixth")).events, "runQueued")).toEqual([]);
  });

  it("are cancelled although there is no room for them", async () => {
    const { answer } = await fill();
    const waiting = await test.ask("third");
    expect(await test.cancel(waiting)).toMatchObject({ cancelled: true });
    const events = await test.watch(waiting.sessionId);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.USER_CANCELLED }]);
    expect(test.fake.seen.requests).toHaveLength(2);
    answer();
  });

  it("do not wait where they are workers, whose parents would wait for them in vain", async () => {
    const spawn = (task: string) => ({ id: task, tool: "spawn_worker", arguments: { profile: "explore", task } });
    scriptByTask(test.fake.behaviour, {
      parent: [["", [spawn("one"), spawn("two"), spawn("three")]], ["Done."]],
      one: [["First."]],
      two: [["Second."]],
      three: [["Third."]],
    });
    const { stopped, results } = await test.run("parent");
    expect(stopped).toMatchObject({ reason: StopReason.COMPLETED, text: "Done." });
    expect(results.map(({ success }) => success)).toEqual([true, true, true]);
  });

  it("replay what was recorded as if they had not waited", async () => {
    test.answers(["", [readCall("a.txt")]], ["", [{ tool: "shell_exec", arguments: { command: "make" } }]], ["Done."]);
    const recorded = await test.run("Build it");
    const { answer } = await fill();
    const executed = test.fake.seen.executed.length;
    const replay = create(ReplaySchema, { sessionId: recorded.sessionId, kind: Kind.NEXT_TURN });
    const waiting = await test.ask("Replay", { workspace: "", replay });
    await test.watch(waiting.sessionId, waiting.sequence, isCase("runQueued"));
    test.fake.behaviour.generate = () => say("Other.");
    answer();
    const events = await test.watch(waiting.sessionId, waiting.sequence);
    expect(valuesOf(events, "turnReplayed").map(({ turn }) => turn)).toEqual([1, 2, 3]);
    expect(test.fake.seen.executed).toHaveLength(executed);
  });
});
