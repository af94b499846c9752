import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { ErrorClass, ModelErrorSchema, Role } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { DecidingStep, Decision, PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { ReplaySchema, Replay_Kind as Kind, StopReason, TurnReplayed_Agreement as Agreement } from "@hlvm/proto/hlvm/session/v1/event_pb";
import type { CopyWorkspaceRequest } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { Trust } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { pauseModel } from "../../testing/pause-model.ts";
import { isCase, useReplaceableProcess } from "../../testing/replaceable-process.ts";
import { refuse } from "../../testing/refuse.ts";
import { ada } from "../../testing/test-orchestrator.ts";
import { valuesOf } from "../../testing/event-values.ts";
import { readCall } from "../../testing/read-call.ts";
import { say } from "../../testing/say.ts";
import { useTestOrchestrator } from "../../testing/use-test-orchestrator.ts";

const test = useTestOrchestrator();
const start = useReplaceableProcess();

const shell = (command: string) => ({ tool: "shell_exec", arguments: { command } });
const isTooLong = () =>
  refuse(
    new ConnectError("too long", Code.FailedPrecondition, undefined, [
      { desc: ModelErrorSchema, value: { class: ErrorClass.CONTEXT_OVERFLOW, provider: "test", advice: "" } },
    ]),
  );

/** A session of three turns: it reads a.txt, runs two commands at once and answers. */
async function record() {
  test.answers(["", [readCall("a.txt")]], ["I look.", [shell("ls"), shell("make")]], ["Done."]);
  return test.run("Build it");
}

const replayOf = (sessionId: string, kind: Kind) => create(ReplaySchema, { sessionId, kind });
const replay = (sessionId: string, kind: Kind) => test.run("Replay", { workspace: "", replay: replayOf(sessionId, kind) });

describe("a replay of decisions", () => {
  it("puts every recorded call to policy as it was decided, and has neither a model, a sandbox nor a person in it", async () => {
    test.fake.behaviour.decide = ({ call }) =>
      call!.argumentsJson.includes("make")
        ? { decision: Decision.DENY, step: DecidingStep.DENY_LIST, rule: "disallowedTools", reason: "Never." }
        : { decision: Decision.ALLOW, step: DecidingStep.MODE, rule: "L1", reason: "Fine.", grant: "g" };
    const recorded = await record();
    test.fake.reset();
    test.fake.behaviour.judge = ({ tool, argumentsJson }) => ({
      decision: tool === "shell_exec" ? Decision.ASK : Decision.ALLOW,
      step: DecidingStep.MODE,
      rule: argumentsJson,
    });
    const { events, stopped } = await replay(recorded.sessionId, Kind.DECISIONS);
    const told = valuesOf(events, "callReplayed");
    expect(told.map((one) => [one.tool, one.argumentsSummary, one.recorded?.decision, one.now?.decision, one.now?.rule])).toEqual([
      ["read_file", "a.txt", Decision.ALLOW, Decision.ALLOW, '{"path":"a.txt"}'],
      ["shell_exec", "ls", Decision.ALLOW, Decision.ASK, '{"command":"ls"}'],
      ["shell_exec", "make", Decision.DENY, Decision.ASK, '{"command":"make"}'],
    ]);
    expect(stopped.reason).toBe(StopReason.COMPLETED);
    const { requests, decided, executed, opened } = test.fake.seen;
    expect([requests, decided, executed, opened]).toEqual([[], [], [], []]);
  });

  it("attests what came from outside into the context of each call, and says where a secret was", async () => {
    const secret = `ghp_${"a1B2".repeat(9)}`;
    test.fake.behaviour.execute = async function* () {
      yield { event: { case: "result", value: { success: true, content: "page", trust: Trust.EXTERNAL } } };
    };
    test.answers(["", [readCall("a.txt")]], ["", [shell(`echo ${secret}`)]], ["Done."]);
    const recorded = await test.run();
    const floors: (Trust | undefined)[] = [];
    test.fake.behaviour.judge = ({ trustFloor }) => {
      floors.push(trustFloor?.trust);
      return { decision: Decision.ALLOW, step: DecidingStep.MODE };
    };
    const { events } = await replay(recorded.sessionId, Kind.DECISIONS);
    expect(floors).toEqual([Trust.USER_CLAIMED, Trust.EXTERNAL]);
    expect(valuesOf(events, "callReplayed").map(({ redacted }) => redacted)).toEqual([false, true]);
    expect(JSON.stringify(valuesOf(events, "callReplayed").map((one) => one.argumentsSummary))).not.toContain(secret);
  });
});

describe("a replay of turns", () => {
  it("gives another model what the recorded one had, compares what it would call, and runs nothing of it", async () => {
    const recorded = await record();
    const contexts = test.fake.seen.requests.map(({ messages }) => messages.map(({ role, parts }) => JSON.stringify([role, parts.length])));
    test.fake.reset();
    test.answers(["", [readCall("a.txt")]], ["", [shell("make"), shell("cat b.txt")]], ["", [readCall("b.txt")]]);
    const { events, stopped, sessionId } = await replay(recorded.sessionId, Kind.NEXT_TURN);
    const told = valuesOf(events, "turnReplayed");
    expect(told.map(({ turn, agreement, failure }) => [turn, agreement, failure])).toEqual([
      [1, Agreement.SAME, ""],
      [2, Agreement.SAME_TOOLS, ""],
      [3, Agreement.DIFFERENT, ""],
    ]);
    expect(told[1]!.proposed.map(({ argumentsJson }) => argumentsJson)).toEqual(['{"command":"make"}', '{"command":"cat b.txt"}']);
    const seen = test.fake.seen.requests.map(({ messages }) => messages.map(({ role, parts }) => JSON.stringify([role, parts.length])));
    expect(seen).toEqual(contexts);
    expect(test.fake.seen.requests[1]!.messages.some(({ role }) => role === Role.TOOL)).toBe(true);
    expect([test.fake.seen.decided, test.fake.seen.executed, test.fake.seen.opened]).toEqual([[], [], []]);
    expect(stopped).toMatchObject({ reason: StopReason.COMPLETED, turns: 3, usage: { inputTokens: 30n } });
    const { session } = await test.orchestrator.client.getSession({ sessionId }, await test.orchestrator.as(ada));
    expect(session).toMatchObject({ title: "Replay", workspace: "/work" });
  });

  it("says at which turn a model could not take the context, and goes on with the next", async () => {
    const recorded = await record();
    test.fake.behaviour.generate = ({ messages }) => (messages.length === 2 ? isTooLong() : say("", [shell("make"), shell("ls")]));
    const { events, stopped } = await replay(recorded.sessionId, Kind.NEXT_TURN);
    expect(valuesOf(events, "turnReplayed").map(({ agreement, failure }) => [agreement, failure !== ""])).toEqual([
      [Agreement.UNSPECIFIED, true],
      [Agreement.SAME, false],
      [Agreement.DIFFERENT, false],
    ]);
    expect(stopped.reason).toBe(StopReason.COMPLETED);
  });

  it("goes on where its process ended, with the turn that it had not come to", async () => {
    const { test: replaced, kill } = await start();
    replaced.answers(["", [readCall("a.txt")]], ["", [readCall("b.txt")]], ["Done."]);
    const recorded = await replaced.run();
    pauseModel(replaced.fake.behaviour);
    const generate = replaced.fake.behaviour.generate;
    replaced.fake.behaviour.generate = (request, ...more) => (request.messages.length > 2 ? generate(request, ...more) : say("First."));
    const asked = await replaced.ask("Replay", { workspace: "", replay: replayOf(recorded.sessionId, Kind.NEXT_TURN) });
    await replaced.watch(asked.sessionId, asked.sequence, isCase("turnReplayed"));
    await kill();
    replaced.fake.behaviour.generate = () => say("Next.");
    replaced.orchestrator = await replaced.startProcess();
    const events = await replaced.watch(asked.sessionId, asked.sequence);
    expect(valuesOf(events, "turnReplayed").map(({ turn, text }) => [turn, text])).toEqual([
      [1, "First."],
      [2, "Next."],
      [3, "Next."],
    ]);
    expect(valuesOf(events, "runTakenOver")).toHaveLength(1);
  });
});

describe("a replay that goes on from a turn", () => {
  const fork = (sessionId: string, turn: number) =>
    test.run("Replay", { workspace: "", replay: create(ReplaySchema, { sessionId, kind: Kind.FORK, turn }) });
  const write = { tool: "write_file", arguments: { path: "b.txt", content: "b" } };
  const steps: Record<string, DecidingStep> = { read_file: DecidingStep.READ_ONLY, write_file: DecidingStep.MODE };

  /** It reads a.txt, then a.txt again and c.txt, writes b.txt, reads a.txt and answers. */
  async function recordWriting() {
    test.answers(
      ["", [readCall("a.txt")]],
      ["", [readCall("a.txt"), readCall("c.txt")]],
      ["", [write]],
      ["", [readCall("d.txt")]],
      ["Done."],
    );
    return test.run("Write it");
  }

  const rewoundIn = (copies: CopyWorkspaceRequest[]) => {
    test.fake.behaviour.copyWorkspace = (request) => {
      copies.push(request);
      return "/copies/one";
    };
  };

  it("has what was before it, a copy of the files, and the recorded results until something is written", async () => {
    test.fake.behaviour.decide = ({ call }) => ({ decision: Decision.ALLOW, step: steps[call!.tool], grant: "g" });
    const recorded = await recordWriting();
    const copies: CopyWorkspaceRequest[] = [];
    test.fake.reset();
    rewoundIn(copies);
    test.fake.behaviour.decide = ({ call }) => ({ decision: Decision.ALLOW, step: steps[call!.tool], grant: "g" });
    test.answers(["", [readCall("a.txt"), readCall("d.txt")]], ["", [write]], ["", [readCall("a.txt")]], ["Otherwise done."]);
    const { events, sessionId, stopped } = await fork(recorded.sessionId, 2);
    expect(copies.map(({ path, turns }) => [path, turns.map(({ turn }) => turn)])).toEqual([["/work", [2, 3, 4, 5]]]);
    const first = test.fake.seen.requests[0]!.messages.filter(({ role }) => role !== Role.SYSTEM);
    expect(first.map(({ role }) => role)).toEqual([Role.USER, Role.ASSISTANT, Role.TOOL]);
    const ran = test.fake.seen.executed.map(({ call }) => [call!.tool, call!.argumentsJson]);
    // c.txt and the first a.txt were read before anything was written; d.txt was read after.
    expect(ran).toEqual([
      ["read_file", '{"path":"d.txt"}'],
      ["write_file", '{"content":"b","path":"b.txt"}'],
      ["read_file", '{"path":"a.txt"}'],
    ]);
    expect(valuesOf(events, "toolEnd").map(({ servedFromSequence }) => servedFromSequence > 0n)).toEqual([true, false, false, false]);
    expect(test.fake.seen.outcomes[0]!.summary).toMatch(/^as recorded: /);
    expect(stopped).toMatchObject({ reason: StopReason.COMPLETED, turns: 4 });
    const { session } = await test.orchestrator.client.getSession({ sessionId }, await test.orchestrator.as(ada));
    expect(session).toMatchObject({ workspace: "/copies/one", forkedFrom: recorded.sessionId });
  });

  it("asks anew what was asked where the turn is the first of its run", async () => {
    const recorded = await recordWriting();
    test.fake.reset();
    test.answers(["At once."]);
    const { events, stopped } = await fork(recorded.sessionId, 1);
    expect(valuesOf(events, "userMessage").map(({ text }) => text)).toEqual(["Write it"]);
    expect(stopped.text).toBe("At once.");
    await expect(fork(recorded.sessionId, 6)).rejects.toThrow(/has no turn 6: it has 5/);
  });
});

describe("a fork with files", () => {
  it("is refused while a run goes on, and leaves no workspace where the session is gone", async () => {
    const release = pauseModel(test.fake.behaviour);
    const { sessionId, sequence } = await test.ask("Wait");
    await test.watch(sessionId, sequence, isCase("thinking"));
    const forking = { ...test.asEdge({ sessionId }), copyFiles: true };
    const forked = async () => test.orchestrator.client.forkSession(forking, await test.orchestrator.as(ada));
    await expect(forked()).rejects.toThrow(/still going on/);
    release();
    await test.watch(sessionId, sequence);
    expect((await forked()).session).toMatchObject({ forkedFrom: sessionId, workspace: expect.stringMatching(/^\/copies\//) });
  });
});

describe("a replay", () => {
  it("is refused of a session that one may not read, or with a workspace of its own", async () => {
    const recorded = await record();
    const start = (sessionId: string, more: object, as = ada) =>
      test.orchestrator
        .as(as)
        .then((options) =>
          test.orchestrator.client.startRun(
            test.asEdge(
              { prompt: "x", settings: { mode: PermissionMode.DEFAULT }, replay: { sessionId, kind: Kind.NEXT_TURN }, ...more },
              as,
            ),
            options,
          ),
        );
    const other = { ...ada, id: "user:eve" };
    await expect(start(recorded.sessionId, {}, other)).rejects.toThrow(/There is no session/);
    await expect(start(randomUUID(), {})).rejects.toThrow(/There is no session/);
    await expect(start(recorded.sessionId, { workspace: "/work" })).rejects.toThrow(/no workspace/);
    await expect(start(recorded.sessionId, { sessionId: recorded.sessionId })).rejects.toThrow(/no workspace/);
  });
});
