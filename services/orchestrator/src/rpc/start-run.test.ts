import { randomUUID } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { Role } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { valuesOf } from "../testing/event-values.ts";
import { pauseModel } from "../testing/pause-model.ts";
import { say } from "../testing/say.ts";
import { ada } from "../testing/test-orchestrator.ts";
import { useTestOrchestrator } from "../testing/use-test-orchestrator.ts";
import { usualBehaviour } from "../testing/usual-behaviour.ts";

const settings = { mode: PermissionMode.DEFAULT };
const test = useTestOrchestrator();

describe("StartRun", () => {
  it("makes nothing where the workspace or the model is not there", async () => {
    test.fake.behaviour.openWorkspace = (path) => {
      throw new HlvmError({
        code: "not_found",
        reason: "workspace_not_found",
        message: `There is no folder ${path}.`,
        advice: "Name one.",
      });
    };
    await expect(test.ask("q", { workspace: "/nowhere" })).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: "There is no folder /nowhere.",
    });
    test.fake.behaviour.openWorkspace = usualBehaviour.openWorkspace;
    test.fake.behaviour.model = undefined;
    await expect(test.ask("q")).rejects.toMatchObject({ rawMessage: "The model gateway named no model." });
    expect(test.fake.seen.closed).toEqual(test.fake.seen.opened);
    expect(await test.database.query("SELECT FROM session")).toEqual([]);
    expect(test.fake.seen.requests).toEqual([]);
  });

  it("asks again where a replica of the sandbox is just on its way out", async () => {
    const { openWorkspace } = test.fake.behaviour;
    const refusals = ["sandbox_draining", "sandbox_lease_lost"];
    test.fake.behaviour.openWorkspace = (path, session) => {
      const reason = refusals.shift();
      if (reason !== undefined) throw new HlvmError({ code: "unavailable", reason, message: "not here" });
      return openWorkspace(path, session);
    };
    test.answers(["Done."]);
    expect((await test.run("q")).stopped.reason).toBe(StopReason.COMPLETED);
    expect(refusals).toEqual([]);
  });

  it("refuses requests that mean nothing, and callers without a token", async () => {
    await expect(test.ask("q", { workspace: "" })).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: "A new session needs a workspace.",
    });
    await expect(test.ask("q", { workspace: "relative" })).rejects.toMatchObject({ code: Code.InvalidArgument });
    await expect(test.ask("q", { sessionId: randomUUID() })).rejects.toMatchObject({ code: Code.NotFound });
    await expect(test.orchestrator.client.startRun({ prompt: "q", workspace: "/w", settings })).rejects.toMatchObject({
      code: Code.Unauthenticated,
    });
  });

  it("goes on with the conversation: the same prefix, memory replaced and not stacked", async () => {
    test.fake.behaviour.recall = (query) => ({ facts: [{ text: `fact for ${query}` }] });
    test.fake.behaviour.generate = (_, call) =>
      call === 1 ? say("I look.", [{ id: "p1", tool: "read_file", arguments: { path: "a" } }]) : say(`answer ${call}`);
    const first = await test.run("one");
    const second = await test.run("two", { sessionId: first.sessionId });

    const hashes = [first, second].map(({ events }) => valuesOf(events, "runStarted")[0]!.prefixHash);
    expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(hashes[1]).toBe(hashes[0]);
    const { requests } = test.fake.seen;
    expect(requests).toHaveLength(3);
    for (const request of requests) {
      expect(request.messages[0]).toEqual(requests[0]!.messages[0]);
      expect(request.tools).toEqual(requests[0]!.tools);
    }
    const memories = requests[2]!.messages.filter(({ role }) => role === Role.SYSTEM).slice(1);
    expect(memories.map(({ parts }) => parts[0]!.part.value)).toEqual([expect.stringMatching(/^# Your Memory\n[^]*fact for two/)]);
    const conversation = requests[2]!.messages.filter(({ role }) => role !== Role.SYSTEM);
    expect(conversation.map(({ role }) => role)).toEqual([Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT, Role.USER]);
    expect(conversation.slice(0, 3)).toEqual(requests[1]!.messages.filter(({ role }) => role !== Role.SYSTEM));
    expect(second.sequence).toBe(BigInt(first.events.length + 1));
  });

  it("tells memory what its answer was, once, and nothing of a session that is stateless or of a run that failed", async () => {
    const before = test.fake.seen.answers.length;
    test.answers(["hi"]);
    await test.run("secret", { stateless: true });
    test.fake.behaviour.generate = () => {
      throw new ConnectError("no model", Code.InvalidArgument);
    };
    await test.run("in vain");
    test.answers(["The branch is main."]);
    const { sessionId } = await test.run("Which branch?");
    await expect
      .poll(() => test.fake.seen.answers.slice(before))
      .toMatchObject([
        {
          sessionId,
          question: "Which branch?",
          answer: "The branch is main.",
          project: "project-of-work",
          runId: expect.stringMatching(/./),
        },
      ]);
  });

  it("refuses a second run while one is going on, and says how to follow it", async () => {
    const release = pauseModel(test.fake.behaviour);
    const { sessionId, sequence } = await test.ask("one");
    await expect(test.ask("two", { sessionId })).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining("still going on"),
    });
    release();
    await test.watch(sessionId, sequence);
    await test.run("two", { sessionId });
  });

  it("refuses to resume in another workspace", async () => {
    test.answers(["hi"]);
    const { sessionId } = await test.run("one");
    await expect(test.ask("two", { sessionId, workspace: "/elsewhere" })).rejects.toMatchObject({
      rawMessage: expect.stringContaining("works in /work, not in /elsewhere"),
    });
  });

  it("keeps a stateless session to itself and deletes it", async () => {
    test.fake.behaviour.recall = () => Promise.reject(new Error("must not be asked"));
    test.answers(["hi"]);
    const { sessionId, events } = await test.run("secret", { stateless: true });
    expect(valuesOf(events, "memoryActivity")).toEqual([]);
    expect(test.fake.seen.requests[0]!.tools.map(({ name }) => name)).not.toContain("memory_write");
    const { sessions } = await test.orchestrator.client.listSessions({}, await test.orchestrator.as(ada));
    expect(sessions.map((session) => session.sessionId)).not.toContain(sessionId);
    await expect(test.ask("again", { sessionId })).rejects.toMatchObject({ code: Code.FailedPrecondition });
    await expect.poll(() => test.fake.seen.closed).toEqual([sessionId]);
    await test.database.query("UPDATE session SET updated_at = now() - interval '61 seconds' WHERE session_id = $1", [sessionId]);
    await expect.poll(() => test.database.query("SELECT FROM session WHERE session_id = $1", [sessionId]), { timeout: 10_000 }).toEqual([]);
  });

  it("never binds a session to another folder than its own, also in a sandbox that was started anew", async () => {
    const { fake } = test;
    test.answers(["Hi."]);
    const { sessionId } = await test.run();
    fake.bound.clear();
    fake.seen.opened.length = 0;
    await expect(test.ask("q", { sessionId, workspace: "/elsewhere" })).rejects.toMatchObject({
      rawMessage: expect.stringContaining("works in /work, not in /elsewhere"),
    });
    expect(fake.seen.opened).not.toContain(sessionId);
    expect([...fake.bound]).toEqual([]);
    await test.run("q", { sessionId });
    expect([...fake.bound]).toEqual([[sessionId, "/work"]]);
  });

  it("resumes in the session's folder also where it is named in another way", async () => {
    const { fake } = test;
    fake.behaviour.openWorkspace = (path, sessionId) => usualBehaviour.openWorkspace(path === "/link" ? "/work" : path, sessionId);
    test.answers(["Hi."]);
    const { sessionId } = await test.run();
    await test.run("q", { sessionId, workspace: "/link" });
    expect([...fake.bound]).toEqual([[sessionId, "/work"]]);
  });

  it("leaves nothing bound where the session's folder has become a link to another one", async () => {
    const { fake } = test;
    test.answers(["Hi."]);
    const { sessionId } = await test.run();
    fake.bound.clear();
    fake.behaviour.openWorkspace = (_, id) => usualBehaviour.openWorkspace("/elsewhere", id);
    await expect(test.ask("q", { sessionId })).rejects.toMatchObject({ rawMessage: expect.stringContaining("not in /elsewhere") });
    expect([...fake.bound]).toEqual([]);
  });

  it("leaves no workspace open where the run could not be written", async () => {
    await test.database.query("ALTER TABLE session ADD CONSTRAINT refused CHECK (title <> 'Not this one.')");
    await expect(test.ask("Not this one.")).rejects.toThrow();
    expect(test.fake.seen.opened).toHaveLength(1);
    expect([...test.fake.bound]).toEqual([]);
  });

  it("keeps the workspace of a session whose run is going on open, where another one is refused", async () => {
    const { fake } = test;
    const release = pauseModel(fake.behaviour);
    const { sessionId, sequence } = await test.ask("q");
    await expect(test.ask("q", { sessionId })).rejects.toMatchObject({ rawMessage: expect.stringContaining("still going on") });
    expect([...fake.bound]).toEqual([[sessionId, "/work"]]);
    release();
    await test.watch(sessionId, sequence);
  });
});
