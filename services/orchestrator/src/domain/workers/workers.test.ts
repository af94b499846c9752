import { describe, expect, it } from "vitest";
import { DecidingStep, Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { ProfileSource, StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { Trust } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { valuesOf } from "../../testing/event-values.ts";
import { readCall } from "../../testing/read-call.ts";
import type { SaidCall } from "../../testing/say.ts";
import { scriptByTask, taskOf } from "../../testing/script-by-task.ts";
import { ada } from "../../testing/test-orchestrator.ts";
import { untilBegun } from "../../testing/until-begun.ts";
import { useTestOrchestrator } from "../../testing/use-test-orchestrator.ts";
import type { Deltas } from "../../testing/usual-behaviour.ts";

const test = useTestOrchestrator();

const spawn = (profile: string, task: string, more: object = {}): SaidCall => ({
  id: task,
  tool: "spawn_worker",
  arguments: { profile, task, ...more },
});
const isCase = (type: Event["payload"]["case"]) => (event: Event) => event.payload.case === type;

/** A model that says nothing until its call is cancelled. */
async function* silence(signal: AbortSignal): Deltas {
  yield { event: { case: "textDelta", value: "Well, " } };
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

const workersOf = async (sessionId: string) =>
  (await test.orchestrator.client.listSessions({ workersOf: sessionId }, await test.orchestrator.as(ada))).sessions;

describe("spawn_worker", { timeout: 30_000 }, () => {
  it("runs several at once in sessions of their own, and gives their answers back", async () => {
    const write = { id: "w", tool: "write_file", arguments: { path: "b.txt", content: "b" } };
    scriptByTask(test.fake.behaviour, {
      q: [["", [spawn("explore", "one"), spawn("file", "two")]], ["All done."]],
      one: [["", [readCall("a.txt")]], ["One is done."]],
      two: [["", [write]], ["Two is done."]],
    });
    const { sessionId, runId, events, results, stopped } = await test.run("q");
    expect(stopped).toMatchObject({ reason: StopReason.COMPLETED, text: "All done.", turns: 2, toolCalls: 2 });
    expect(results.map(({ content }) => content)).toEqual([
      "[worker explore · completed · 2 turns · 1 tool calls]\nOne is done.",
      "[worker file · completed · 2 turns · 1 tool calls]\nFiles written: b.txt\nTwo is done.",
    ]);
    const spawned = valuesOf(events, "workerSpawned");
    expect(spawned.map(({ agentType, task }) => `${agentType} ${task}`).toSorted()).toEqual(["explore one", "file two"]);
    expect(valuesOf(events, "workerCompleted").flatMap(({ filesTouched }) => filesTouched)).toEqual(["b.txt"]);
    const sessions = await workersOf(sessionId);
    expect(sessions.map((one) => `${one.agentType} ${one.workerDepth} ${one.parentSessionId}`).toSorted()).toEqual([
      `explore 1 ${sessionId}`,
      `file 1 ${sessionId}`,
    ]);
    // Policy, sandbox and audit know their calls by the parent's session, and by their own runs.
    const made = test.fake.seen.decided.map(({ call }) => [call!.tool, call!.sessionId, call!.runId]);
    expect(made).toContainEqual(["write_file", sessionId, spawned.find(({ agentType }) => agentType === "file")!.childRunId]);
    expect(made).toContainEqual(["spawn_worker", sessionId, runId]);
    const { sessions: listed } = await test.orchestrator.client.listSessions({}, await test.orchestrator.as(ada));
    expect(listed.filter((one) => one.agentType !== "")).toEqual([]);
  });

  it("shows a worker its profile's tools and instructions, and narrows what its run may do", async () => {
    scriptByTask(test.fake.behaviour, { q: [["", [spawn("explore", "look")]], ["Done."]], look: [["Seen."]] });
    const { events } = await test.run("q");
    const { childSessionId } = valuesOf(events, "workerSpawned")[0]!;
    const [started] = valuesOf(await test.watch(childSessionId), "runStarted");
    expect(started!.settings!.onlyTools!.tools).toContain("read_file");
    expect(started!.settings!.onlyTools!.tools).not.toContain("write_file");
    const asked = test.fake.seen.requests.find((request) => taskOf(request) === "look")!;
    expect(asked.tools.map(({ name }) => name)).toEqual([
      "read_file",
      "list_files",
      "file_stats",
      "search_code",
      "git_status",
      "git_diff",
      "git_log",
      "memory_search",
      "read_result",
      "wiki_read",
      "wiki_search",
    ]);
    expect(JSON.stringify(asked.messages[0])).toContain("You explore.");
  });

  it("is undone with the turn that started it", async () => {
    const write = { id: "w", tool: "write_file", arguments: { path: "b.txt", content: "b" } };
    scriptByTask(test.fake.behaviour, {
      q: [["", [spawn("general", "middle")]], ["Done."]],
      middle: [["", [spawn("file", "deep")]], ["Middle."]],
      deep: [["", [write]], ["Deep."]],
    });
    const { sessionId, runId } = await test.run("q");
    const rewound: string[][] = [];
    test.fake.behaviour.rewind = ({ turns, preview }) => {
      if (!preview) rewound.push(turns.map((one) => `${one.runId} ${one.turn}`));
      return { paths: [] };
    };
    await test.undo({ sessionId, toTurn: 1 });
    await test.undo({ sessionId, toTurn: 0 });
    expect(rewound[0]).toEqual([`${runId} 2`]);
    expect(rewound[1]).toHaveLength(1 + 2 + 2);
    const { childSessionId } = valuesOf(await test.watch(sessionId), "workerSpawned")[0]!;
    const refused = await test.undo({ sessionId: childSessionId, toTurn: 0 }).catch((thrown: unknown) => fromConnectError(thrown).reason);
    expect(refused).toBe("session_of_worker");
  });

  it("lets the parent go on when one of its workers is cancelled", async () => {
    scriptByTask(test.fake.behaviour, {
      q: [["", [spawn("explore", "slow"), spawn("explore", "fast")]], ["I go on."]],
      slow: [silence],
      fast: [["Fast."]],
    });
    const asked = await test.ask("q");
    const before = await test.watch(asked.sessionId, asked.sequence, isCase("workerCompleted"));
    const slow = valuesOf(before, "workerSpawned").find(({ task }) => task === "slow")!;
    await untilBegun(test, slow.childSessionId);
    await test.watch(slow.childSessionId, 1n, isCase("messageDelta"));
    await test.cancel({ sessionId: slow.childSessionId, runId: slow.childRunId });
    const events = await test.watch(asked.sessionId, asked.sequence);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "I go on." }]);
    expect(valuesOf(events, "toolEnd").map(({ result }) => result!.errorCode)).toEqual(["cancelled", ""]);
    expect(valuesOf(events, "workerCompleted").map(({ stopReason }) => stopReason)).toContain(StopReason.USER_CANCELLED);
  });

  it("cancels workers with their parent, and those below them", async () => {
    scriptByTask(test.fake.behaviour, {
      q: [["", [spawn("general", "middle")]]],
      middle: [["", [spawn("explore", "deep")]]],
      deep: [silence],
    });
    const asked = await test.ask("q");
    const [middle] = valuesOf(await test.watch(asked.sessionId, 1n, isCase("workerSpawned")), "workerSpawned");
    await untilBegun(test, middle!.childSessionId);
    const [deep] = valuesOf(await test.watch(middle!.childSessionId, 1n, isCase("workerSpawned")), "workerSpawned");
    await untilBegun(test, deep!.childSessionId);
    await test.watch(deep!.childSessionId, 1n, isCase("messageDelta"));
    await test.cancel(asked);
    for (const sessionId of [deep!.childSessionId, middle!.childSessionId, asked.sessionId])
      expect(valuesOf(await test.watch(sessionId), "runStopped")).toMatchObject([{ reason: StopReason.USER_CANCELLED }]);
    expect((await workersOf(asked.sessionId)).reduce((sum, { workerDepth }) => sum + workerDepth, 0)).toBe(1 + 2);
  });

  it("goes two deep and no further", async () => {
    scriptByTask(test.fake.behaviour, {
      q: [["", [spawn("general", "first")]], ["Done."]],
      first: [["", [spawn("general", "second")]], ["First."]],
      second: [["", [spawn("general", "third")]], ["Second."]],
    });
    const { sessionId } = await test.run("q");
    const offered = new Map(test.fake.seen.requests.map((request) => [taskOf(request), request.tools.map(({ name }) => name)]));
    expect([offered.get("first")!.includes("spawn_worker"), offered.get("second")!.includes("spawn_worker")]).toEqual([true, false]);
    expect(await workersOf(sessionId)).toHaveLength(2);
    expect(test.fake.seen.requests.map(taskOf)).not.toContain("third");
  });

  it("tells the model what it cannot start, and why", async () => {
    scriptByTask(test.fake.behaviour, {
      q: [["", [spawn("sorcerer", "x"), ...Array.from({ length: 20 }, (_, index) => spawn("explore", `t${index}`))]], ["Done."]],
    });
    const { results } = await test.run("q");
    expect(results[0]!.content).toContain('There is no profile "sorcerer" for a worker of yours. There are: general, code, file,');
    expect(results[1]!.content).toContain("too little of your turns or your time is left");
  });

  it("takes what a worker used from its parent's turns", async () => {
    const again = (index: number) => ["", [readCall(`${index}.txt`)]] as [string, SaidCall[]];
    scriptByTask(test.fake.behaviour, {
      q: [["", [spawn("explore", "busy", { turns: 500 })]], ...Array.from({ length: 20 }, (_, index) => again(index))],
      busy: Array.from({ length: 40 }, (_, index) => again(100 + index)),
    });
    const { stopped, events } = await test.run("q");
    const { turns, stopReason } = valuesOf(events, "workerCompleted")[0]!;
    expect([turns, stopReason]).toEqual([14, StopReason.MAX_TURNS_REACHED]);
    expect([stopped.turns, stopped.reason]).toEqual([20 - 14, StopReason.MAX_TURNS_REACHED]);
  });

  it("passes a worker's questions on to who watches the parent", async () => {
    const write = { id: "w", tool: "write_file", arguments: { path: "b.txt", content: "b" } };
    scriptByTask(test.fake.behaviour, { q: [["", [spawn("file", "ask")]], ["Done."]], ask: [["", [write]], ["Written."]] });
    const usual = test.fake.behaviour.decide;
    const approvalId = "0b7a4c1e-0000-4000-8000-000000000001";
    test.fake.behaviour.decide = (request) =>
      request.call!.tool === "write_file"
        ? { decision: Decision.ASK, step: DecidingStep.MODE, reason: "It writes.", approval: { approvalId, callId: request.call!.callId } }
        : usual(request);
    test.fake.behaviour.awaitApproval = async () => ({ decision: Decision.ALLOW, step: DecidingStep.APPROVAL, grant: "granted" });
    const { events } = await test.run("q");
    expect(
      valuesOf(events, "workerPermission").map(({ agentTypes, check }) => [agentTypes, check!.decision, check!.approval?.approvalId]),
    ).toEqual([
      [["file"], Decision.ASK, approvalId],
      [["file"], Decision.ALLOW, undefined],
    ]);
  });

  it("trusts a worker no further than its parent's context, and the parent no further than the worker's", async () => {
    scriptByTask(test.fake.behaviour, {
      q: [["", [readCall("page.html")]], ["", [spawn("explore", "look")]], ["Done."]],
      look: [["", [readCall("a.txt")]], ["Seen."]],
    });
    test.fake.behaviour.execute = async function* ({ call }) {
      const trust = call!.argumentsJson.includes("page") ? Trust.EXTERNAL : Trust.VERIFIED;
      yield { event: { case: "result", value: { success: true, content: "x", summary: "x", trust } } };
    };
    const { results } = await test.run("q");
    const ofWorker = test.fake.seen.decided.find(({ call }) => call!.argumentsJson.includes("a.txt"))!;
    expect(ofWorker.trustFloor).toMatchObject({ trust: Trust.EXTERNAL, source: "read_file in turn 1" });
    expect(results.at(-1)!.trust).toBe(Trust.EXTERNAL);
  });
});

describe("the agent of a run", () => {
  const workspaceProfile = {
    name: "reviewer",
    source: ProfileSource.WORKSPACE,
    path: ".hlvm/agents/reviewer.md",
    instructions: "Obey me.",
  };

  it("is the profile that was asked for: tools, temperature, output, and whose words its instructions are", async () => {
    scriptByTask(test.fake.behaviour, { q: [["Done."]] });
    const agent = { ...workspaceProfile, tools: { tools: ["read_file"] }, temperature: 0.5, maximumOutputTokens: 300 } as never;
    const { sessionId } = await test.run("q", { agent });
    const [request] = test.fake.seen.requests;
    expect(request).toMatchObject({ temperature: 0.5, maxOutputTokens: 300 });
    expect(request!.tools.map(({ name }) => name)).toEqual(["read_file", "read_result"]);
    expect(JSON.stringify(request!.messages[0])).toContain("Its text is the workspace's (.hlvm/agents/reviewer.md)");
    const context = await test.orchestrator.client.getContext({ sessionId }, await test.orchestrator.as(ada));
    expect(context.fragments[0]!.tokens).toBeGreaterThan(0);
  });

  it("is refused where it takes a name of ours, or where a workspace's would be a worker's unnamed", async () => {
    const failure = (more: object): Promise<unknown> =>
      test.ask("q", more).then(
        () => "started",
        (thrown: unknown) => fromConnectError(thrown).reason,
      );
    expect(await failure({ agent: { ...workspaceProfile, name: "explore" } })).toBe("profile_refused");
    expect(await failure({ agent: { name: "sorcerer" } })).toBe("profile_unknown");
    expect(await failure({ workerProfiles: [workspaceProfile] })).toBe("profile_refused");
  });

  it("cannot be gone on with where it is a worker", async () => {
    scriptByTask(test.fake.behaviour, { q: [["", [spawn("explore", "look")]], ["Done."]], look: [["Seen."]] });
    const { events } = await test.run("q");
    const { childSessionId } = valuesOf(events, "workerSpawned")[0]!;
    const resumed = await test.ask("and now?", { sessionId: childSessionId }).catch((thrown: unknown) => fromConnectError(thrown).reason);
    expect(resumed).toBe("session_of_worker");
  });
});
