import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { GetReceiptResponse_State } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { valuesOf } from "../../testing/event-values.ts";
import { readCall } from "../../testing/read-call.ts";
import { refuse } from "../../testing/refuse.ts";
import { say, type SaidCall } from "../../testing/say.ts";
import { useTestOrchestrator } from "../../testing/use-test-orchestrator.ts";

const test = useTestOrchestrator({ HLVM_SERVICE_WAIT_SECONDS: "1" });

describe("a mesh that fails", () => {
  it("stops the run where policy cannot decide: nothing runs without a decision", async () => {
    test.answers(["", [readCall("a"), readCall("b")]]);
    test.fake.behaviour.decide = () => {
      throw new HlvmError({ code: "unavailable", reason: "database_unreachable", message: "Policy cannot record.", advice: "Start it." });
    };
    const { stopped, results } = await test.run();
    expect(stopped).toMatchObject({ reason: StopReason.ERROR, message: "Policy cannot record.", advice: "Start it." });
    expect(results.map(({ errorCode }) => errorCode)).toEqual(["cancelled", "cancelled"]);
    expect(test.fake.seen.executed).toEqual([]);
  });

  it("asks policy again that did not answer in time, as while it is started again", async () => {
    test.answers(["", [readCall("a")]], ["done"]);
    const { decide } = test.fake.behaviour;
    test.fake.behaviour.decide = () => {
      test.fake.behaviour.decide = decide;
      throw new HlvmError({ code: "deadline_exceeded", reason: "deadline_exceeded", message: "the operation timed out" });
    };
    const { stopped, results } = await test.run();
    expect(stopped.reason).toBe(StopReason.COMPLETED);
    expect(results).toMatchObject([{ success: true }]);
    expect(test.fake.seen.executed).toHaveLength(1);
  });

  it("does not run a call whose grant was lost on the way, and tells the audit log", async () => {
    test.answers(["", [readCall("a")]], ["done"]);
    let calls = 0;
    test.fake.behaviour.decide = () => {
      throw ++calls === 1
        ? new HlvmError({ code: "unavailable", reason: "unavailable", message: "gone" })
        : new HlvmError({ code: "already_exists", reason: "call_already_decided", message: "decided before" });
    };
    const { stopped, results } = await test.run();
    expect(results).toMatchObject([{ success: false, content: expect.stringContaining("was lost on the way, so read_file did not run") }]);
    expect(test.fake.seen.executed).toEqual([]);
    expect(test.fake.seen.outcomes).toMatchObject([{ status: OutcomeStatus.REFUSED }]);
    expect(stopped.reason).toBe(StopReason.COMPLETED);
  });

  it.each([
    ["another call: nothing more takes effect", ["", [readCall("b")]]],
    ["its answer: that does not complete the run", ["done"]],
  ] as const)("stops the run where an outcome cannot be recorded and the model goes on with %s", async (_, next) => {
    test.fake.behaviour.recordOutcome = () => {
      throw new HlvmError({ code: "unavailable", reason: "database_unreachable", message: "no audit" });
    };
    test.answers(["", [readCall("a")]], [...next]);
    expect((await test.run()).stopped).toMatchObject({
      reason: StopReason.ERROR,
      message: expect.stringContaining("could not be written to the audit log"),
    });
    expect(test.fake.seen.executed).toHaveLength(1);
  });

  it("runs no tool when the log could not take its call, though policy allows it: whoever has the run asks the model again", async () => {
    test.fake.behaviour.generate = async function* ({ runId }, call) {
      // As if another process had claimed it, and ended.
      const claim = "UPDATE run SET lease_owner = gen_random_uuid(), held_by = gen_random_uuid() WHERE run_id = $1";
      if (call === 1) await test.database.query(claim, [runId]);
      yield* call === 1 ? say("", [readCall("a")]) : say("Done.");
    };
    const { stopped, events } = await test.run();
    // It may be decided before the log has refused, or not at all.
    expect(test.fake.seen.decided.length).toBeLessThanOrEqual(1);
    expect(test.fake.seen.executed).toEqual([]);
    expect(valuesOf(events, "assistantMessage")).toMatchObject([{ text: "Done." }]);
    expect(stopped.reason).toBe(StopReason.COMPLETED);
  });

  it("names the outcome that could not be recorded, also where the model fails next", async () => {
    test.fake.behaviour.recordOutcome = () => {
      throw new HlvmError({ code: "unavailable", reason: "database_unreachable", message: "no audit" });
    };
    test.fake.behaviour.generate = (_, call) =>
      call === 1 ? say("", [readCall("a")]) : refuse(new ConnectError("no key", Code.Unauthenticated));
    expect((await test.run()).stopped.message).toContain("could not be written to the audit log");
  });

  it("does not advise to resume a stateless run whose outcome could not be recorded", async () => {
    test.fake.behaviour.recordOutcome = () => {
      throw new HlvmError({ code: "unavailable", reason: "database_unreachable", message: "no audit" });
    };
    test.answers(["", [readCall("a")]], ["done"]);
    expect((await test.run("q")).stopped.advice).toContain("hlvm ask --resume");
    test.fake.seen.requests.length = 0;
    const { advice } = (await test.run("q", { stateless: true })).stopped;
    expect(advice).toContain("Ask again");
    expect(advice).not.toContain("--resume");
  });

  it("opens the workspace again where the sandbox forgot it", async () => {
    test.answers(["", [readCall("a")]], ["done"]);
    let calls = 0;
    test.fake.behaviour.execute = async function* () {
      if (++calls === 1) throw new HlvmError({ code: "not_found", reason: "session_not_found", message: "not open" });
      yield { event: { case: "result", value: { success: true, content: "here" } } };
    };
    const { results } = await test.run();
    expect(results).toMatchObject([{ content: "here" }]);
    expect(test.fake.seen.opened).toHaveLength(2);
  });

  it.each([
    [GetReceiptResponse_State.DONE, true, "the receipt"],
    [GetReceiptResponse_State.UNKNOWN, false, "not known whether it took effect"],
  ])("asks for the receipt of a call whose stream broke (state %s), and never runs it twice", async (state, success, content) => {
    test.answers(["", [readCall("a")]], ["done"]);
    test.fake.behaviour.execute = () => refuse(new ConnectError("connection lost", Code.Unavailable));
    test.fake.behaviour.receipt = () => ({ state, result: { success: true, content: "the receipt" } });
    const { results } = await test.run();
    expect(results).toMatchObject([{ success, content: expect.stringContaining(content) }]);
    expect(test.fake.seen.executed).toHaveLength(1);
    expect(test.fake.seen.outcomes).toHaveLength(1);
  });

  it("runs a call again that never started: the sandbox had no room, then its stream broke, and then it waited", async () => {
    test.answers(["", [readCall("a")]], ["done"]);
    let calls = 0;
    test.fake.behaviour.execute = async function* () {
      calls++;
      if (calls === 1) throw new HlvmError({ code: "resource_exhausted", reason: "too_many_sandboxes", message: "no room" });
      if (calls === 2) throw new ConnectError("connection lost", Code.Unavailable);
      yield { event: { case: "waiting", value: { position: 3 } } };
      yield { event: { case: "result", value: { success: true, content: "here" } } };
    };
    const { results, stopped } = await test.run();
    expect(results).toMatchObject([{ success: true, content: "here" }]);
    expect(stopped.reason).toBe(StopReason.COMPLETED);
    expect(new Set(test.fake.seen.executed.map(({ call, grant }) => `${call!.callId} ${grant}`)).size).toBe(1);
    expect(test.fake.seen.executed).toHaveLength(3);
    expect(test.fake.seen.outcomes).toMatchObject([{ status: OutcomeStatus.SUCCEEDED }]);
  });

  it("does not end a run as if it were done whose call could not be run", { timeout: 20_000 }, async () => {
    test.answers(["", [readCall("a")]], ["done"]);
    test.fake.behaviour.execute = () =>
      refuse(new HlvmError({ code: "resource_exhausted", reason: "too_many_sandboxes", message: "No room.", advice: "Wait." }));
    const { results, stopped } = await test.run();
    expect(stopped).toMatchObject({
      reason: StopReason.ERROR,
      message: "The run was stopped, since its call of read_file could not be run: No room.",
      advice: "Wait. Then go on with --resume.",
    });
    expect(results).toMatchObject([{ errorCode: "cancelled" }]);
    await expect.poll(() => test.fake.seen.outcomes).toMatchObject([{ status: OutcomeStatus.REFUSED }]);
  });

  it("does not go on where nobody can be asked what a call came to", { timeout: 20_000 }, async () => {
    test.answers(["", [readCall("a")]], ["done"]);
    test.fake.behaviour.execute = () => refuse(new ConnectError("connection lost", Code.Unavailable));
    test.fake.behaviour.receipt = () => {
      throw new ConnectError("connection refused", Code.Unavailable);
    };
    const { results, stopped, events } = await test.run();
    expect(stopped).toMatchObject({
      reason: StopReason.ERROR,
      message: expect.stringContaining("not known whether its call of read_file"),
    });
    expect(results).toMatchObject([{ errorCode: "outcome_unknown", content: expect.stringContaining("not known") }]);
    const { runId } = events[0]!;
    expect(test.fake.seen.outcomes.filter((outcome) => outcome.runId === runId)).toEqual([]);
    const toReconcile = "SELECT FROM run WHERE run_id = $1 AND reconcile_at IS NOT NULL AND delegation IS NOT NULL";
    expect(await test.database.query(toReconcile, [runId])).toHaveLength(1);
  });

  it("asks for the receipt also where the stream breaks after the workspace was opened again", async () => {
    test.answers(["", [readCall("a")]], ["done"]);
    let calls = 0;
    test.fake.behaviour.execute = () =>
      refuse(
        ++calls === 1
          ? new HlvmError({ code: "not_found", reason: "session_not_found", message: "not open" })
          : new ConnectError("connection lost", Code.Unavailable),
      );
    test.fake.behaviour.receipt = () =>
      calls === 1
        ? { state: GetReceiptResponse_State.NEVER_STARTED }
        : { state: GetReceiptResponse_State.DONE, result: { success: true, content: "the receipt" } };
    expect((await test.run()).results).toMatchObject([{ success: true, content: "the receipt" }]);
    expect(test.fake.seen.executed).toHaveLength(2);
  });

  it("says of a lost call to memory that it may have taken effect, and of a search that it failed", async () => {
    const write: SaidCall = { id: "w", tool: "memory_write", arguments: { text: "Ada likes tea" } };
    const search: SaidCall = { id: "s", tool: "memory_search", arguments: { query: "tea" } };
    test.answers(["", [write, search]], ["done"]);
    test.fake.behaviour.executeMemory = () => {
      throw new ConnectError("connection lost", Code.Unavailable);
    };
    const [written, searched] = (await test.run()).results;
    expect(written!.content).toContain("not known whether it took effect");
    expect(searched!.content).toContain("The tool failed");
  });

  it("goes on without memory, and says so", async () => {
    test.answers(["done"]);
    test.fake.behaviour.recall = () => Promise.reject(new ConnectError("index gone", Code.Unavailable));
    const { events, stopped } = await test.run();
    expect(valuesOf(events, "memoryActivity")).toMatchObject([{ recalled: [], notice: "Nothing was recalled: index gone" }]);
    expect(stopped.reason).toBe(StopReason.COMPLETED);
  });
});
