import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { RestoredPath_Action as Action } from "@hlvm/proto/hlvm/sandbox/v1/runner_pb";
import { Role } from "@hlvm/proto/hlvm/model/v1/model_pb";
import type { RewindWorkspaceRequest } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { valuesOf } from "../testing/event-values.ts";
import { pauseModel } from "../testing/pause-model.ts";
import { ada } from "../testing/test-orchestrator.ts";
import { useTestOrchestrator } from "../testing/use-test-orchestrator.ts";

const test = useTestOrchestrator();

/** What the model was last told, in order. */
const told = () =>
  test.fake.seen.requests
    .at(-1)!
    .messages.flatMap(({ role, parts }) =>
      role === Role.SYSTEM ? [] : parts.map(({ part }) => (part.case === "text" ? part.value : part.case)),
    );

/** Two runs: the first of two turns, the second of one. */
async function aSession() {
  test.answers(["", [{ tool: "git_status", arguments: {} }]], ["one"], ["two"]);
  const first = await test.run("first");
  const second = await test.run("second", { sessionId: first.sessionId });
  return { sessionId: first.sessionId, runs: [first.runId, second.runId] };
}

describe("UndoToTurn", () => {
  it("has the files go back to before what is undone, and the conversation fold to there; the log keeps all", async () => {
    const { sessionId, runs } = await aSession();
    expect(test.fake.seen.executed.map(({ turn }) => turn)).toEqual([1]);
    const asked: RewindWorkspaceRequest[] = [];
    const paths = [
      { path: "made", action: Action.DELETE },
      { path: "by hand", action: Action.CHANGE, changedByOthers: true },
    ];
    test.fake.behaviour.rewind = (request) => {
      asked.push(request);
      return { paths, pathCount: 2, incomplete: true };
    };
    const before = await test.watch(sessionId, 1n, ({ payload, runId }) => payload.case === "runStopped" && runId === runs[1]);
    const preview = await test.undo({ sessionId, toTurn: 1, preview: true });
    expect(preview).toMatchObject({
      turns: [
        { turn: 2, summary: "one" },
        { turn: 3, summary: "two" },
      ],
      paths,
      pathCount: 2,
      incomplete: true,
    });
    expect((await test.orchestrator.client.getSession({ sessionId }, await test.orchestrator.as(ada))).session!.lastSequence).toBe(
      BigInt(before.length),
    );
    await expect(test.undo({ sessionId, toTurn: 1 })).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining("not all that was written since would go back. Nothing was undone."),
    });
    expect(asked.every((one) => one.preview)).toBe(true);
    asked.length = 0;
    await test.undo({ sessionId, toTurn: 1, acceptIncomplete: true });
    expect(asked).toMatchObject([{ preview: false, overwrite: false }]);
    expect(asked[0]!.turns).toMatchObject([
      { runId: runs[0], turn: 2 },
      { runId: runs[1], turn: 1 },
    ]);

    test.answers(["three"]);
    const { events } = await test.run("third", { sessionId });
    expect(told()).toEqual(["first", "toolCall", "toolResult", "third"]);
    const all = await test.watch(sessionId, 1n, ({ runId, payload }) => payload.case === "runStopped" && runId === events.at(-1)!.runId);
    expect(valuesOf(all, "conversationUndone")).toMatchObject([{ toTurn: 1, restoredPaths: ["made"], keptPaths: ["by hand"] }]);
    expect(valuesOf(all, "userMessage").map(({ text }) => text)).toEqual(["first", "second", "third"]);

    await test.undo({ sessionId, toTurn: 0, overwrite: true, acceptIncomplete: true });
    test.answers(["four"]);
    await test.run("fourth", { sessionId });
    expect(told()).toEqual(["fourth"]);
  });

  it("says how many turns there are where there are fewer, and undoes nothing while a run goes on or for somebody else", async () => {
    const { sessionId } = await aSession();
    await expect(test.undo({ sessionId, toTurn: 9 })).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: expect.stringContaining("has no turn 9: it has 3 that count"),
    });
    await expect(test.undo({ sessionId, toTurn: 0 }, { ...ada, id: "user:bob" })).rejects.toMatchObject({ code: Code.NotFound });
    const goOn = pauseModel(test.fake.behaviour);
    const { sequence } = await test.ask("third", { sessionId });
    await expect(test.undo({ sessionId, toTurn: 0 })).rejects.toMatchObject({ code: Code.FailedPrecondition });
    goOn();
    await test.watch(sessionId, sequence);
  });

  it("leaves the conversation as it is where the files cannot go back", async () => {
    const { sessionId } = await aSession();
    test.fake.behaviour.rewind = () => {
      throw new Error("the disk is gone");
    };
    await expect(test.undo({ sessionId, toTurn: 0 })).rejects.toThrow();
    test.answers(["three"]);
    await test.run("third", { sessionId });
    expect(told()).toEqual(["first", "toolCall", "toolResult", "one", "second", "two", "third"]);
  });
});
