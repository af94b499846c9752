import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { OutcomeStatus } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { ErrorClass, FinishReason, ModelCapability, ModelErrorSchema, ModelTier, Role } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { DecidingStep, Decision } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { GetReceiptResponse_State } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { createTestDatabase, type TestDatabase } from "@hlvm/testing/create-test-database";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { refuse } from "../../testing/fake-services.ts";
import { valuesOf } from "../../testing/event-values.ts";
import { say, type SaidCall } from "../../testing/say.ts";
import { startTestOrchestrator, type TestOrchestrator } from "../../testing/test-orchestrator.ts";

const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
let database: TestDatabase;
let test: TestOrchestrator;
let usual: TestOrchestrator["fake"]["behaviour"];

beforeAll(async () => {
  database = await createTestDatabase(MIGRATIONS);
  test = await startTestOrchestrator(database.url, {
    HLVM_MAXIMUM_TURNS: "4",
    HLVM_MAXIMUM_TOOL_CALLS: "3",
    HLVM_MODEL_SILENCE_SECONDS: "1",
  });
  usual = { ...test.fake.behaviour };
});

afterEach(() => {
  Object.assign(test.fake.behaviour, usual);
  const { seen } = test.fake;
  for (const list of [seen.requests, seen.decided, seen.executed, seen.outcomes, seen.opened, seen.closed]) list.length = 0;
});

afterAll(async () => {
  await test.stop();
  await database.drop();
});

const read = (path: string): SaidCall => ({ id: path, tool: "read_file", arguments: { path } });

/** The model's answers, one a call; the last one again and again. */
function answers(...all: Parameters<typeof say>[]): void {
  test.fake.behaviour.generate = (_, call) => say(...all[Math.min(call, all.length) - 1]!);
}

async function run(prompt = "What is this?"): Promise<Event[]> {
  const { sessionId, sequence } = await test.ask(prompt);
  return test.watch(sessionId, sequence);
}

const stopped = (events: readonly Event[]) => valuesOf(events, "runStopped")[0]!;
const results = (events: readonly Event[]) => valuesOf(events, "toolEnd").map(({ result }) => result!);

describe("the loop", () => {
  it("asks, calls tools and answers; the log says everything, in order and before it happens", async () => {
    answers(["I look.", [read("a")]], ["It is a test."]);
    const events = await run();
    expect(events.map(({ turn, payload }) => `${turn} ${payload.case}`)).toEqual([
      "0 userMessage",
      "0 runStarted",
      "1 thinking",
      "1 messageDelta",
      "1 assistantMessage",
      "1 toolSelected",
      "1 permissionCheck",
      "1 toolStart",
      "1 toolEnd",
      "1 turnStats",
      "1 usageUpdate",
      "2 thinking",
      "2 messageDelta",
      "2 assistantMessage",
      "2 turnStats",
      "2 usageUpdate",
      "2 runStopped",
    ]);
    expect(events.map(({ sequence }) => Number(sequence))).toEqual(events.map((_, index) => index + 1));
    expect(stopped(events)).toMatchObject({
      reason: StopReason.COMPLETED,
      text: "It is a test.",
      turns: 2,
      toolCalls: 1,
      usage: { inputTokens: 20n, outputTokens: 10n },
    });
    const { seen } = test.fake;
    expect(seen.executed[0]).toMatchObject({
      grant: `grant for ${seen.decided[0]!.call!.callId}`,
      call: { tool: "read_file", argumentsJson: '{"path":"a"}' },
    });
    expect(seen.outcomes).toMatchObject([{ callId: seen.decided[0]!.call!.callId, status: OutcomeStatus.SUCCEEDED }]);
    expect([...seen.principals]).toEqual(["local/user:ada"]);
  });

  it("runs the calls of a turn at the same time and gives their results in the order of the calls", async () => {
    answers(["", [read("slow"), read("fast")]], ["done"]);
    const finished: string[] = [];
    let release = (): void => undefined;
    const fastIsDone = new Promise<void>((resolve) => (release = resolve));
    test.fake.behaviour.execute = async function* ({ call }) {
      if (call!.argumentsJson.includes("slow")) await fastIsDone;
      finished.push(call!.argumentsJson);
      yield { event: { case: "result", value: { success: true, content: call!.argumentsJson } } };
      release();
    };
    const events = await run();
    expect(finished).toEqual(['{"path":"fast"}', '{"path":"slow"}']);
    expect(results(events).map(({ content }) => content)).toEqual(['{"path":"slow"}', '{"path":"fast"}']);
    const sent = test.fake.seen.requests[1]!.messages.at(-1)!;
    expect(sent.role).toBe(Role.TOOL);
    expect(sent.parts.map(({ part }) => part.value)).toMatchObject([{ id: "slow" }, { id: "fast" }]);
  });

  it("keeps the order of calls that write the same file", async () => {
    const write = (content: string): SaidCall => ({ id: content, tool: "write_file", arguments: { path: "a", content } });
    answers(["", [write("1"), write("2"), read("a")]], ["done"]);
    let running = 0;
    const order: string[] = [];
    test.fake.behaviour.execute = async function* ({ call }) {
      running++;
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${running} ${call!.argumentsJson}`);
      running--;
      yield { event: { case: "result", value: { success: true } } };
    };
    await run();
    expect(order).toEqual(['1 {"content":"1","path":"a"}', '1 {"content":"2","path":"a"}', '1 {"path":"a"}']);
  });

  it("tells the model of a denial, runs nothing, and goes on", async () => {
    answers(["", [read("a")]], ["I could not."]);
    test.fake.behaviour.decide = () => ({
      decision: Decision.DENY,
      step: DecidingStep.MODE,
      rule: "dontAsk: L1",
      reason: "Nobody can be asked.",
    });
    const events = await run();
    expect(results(events)).toMatchObject([
      {
        success: false,
        errorCode: "permission_denied",
        content: expect.stringMatching(/^Policy denied this call \(dontAsk: L1\): Nobody.*\n.*Do not try it again/),
      },
    ]);
    expect(valuesOf(events, "toolStart")).toEqual([]);
    expect(test.fake.seen.executed).toEqual([]);
    expect(test.fake.seen.outcomes).toEqual([]);
    expect(stopped(events).reason).toBe(StopReason.COMPLETED);
  });

  it("waits for a person, shows the question, and runs what was approved", async () => {
    answers(["", [read("a")]], ["done"]);
    const approvalId = "22222222-2222-4222-8222-222222222222";
    test.fake.behaviour.decide = () => ({
      decision: Decision.ASK,
      step: DecidingStep.MODE,
      approval: { approvalId, tool: "read_file", argumentsJson: '{"path":"a"}' },
    });
    let asked = 0;
    test.fake.behaviour.awaitApproval = async () => {
      if (++asked === 1) throw new ConnectError("not yet", Code.DeadlineExceeded);
      return { decision: Decision.ALLOW, step: DecidingStep.APPROVAL, reason: "user:eve approved", grant: "approved grant" };
    };
    const events = await run();
    expect(valuesOf(events, "permissionCheck")).toMatchObject([
      { decision: Decision.ASK, approval: { approvalId, argumentsJson: '{"path":"a"}' } },
      { decision: Decision.ALLOW, step: DecidingStep.APPROVAL },
    ]);
    expect(test.fake.seen.executed).toMatchObject([{ grant: "approved grant" }]);
  });

  it("gives an unknown tool and wrong arguments back to the model without asking policy", async () => {
    answers(
      [
        "",
        [
          { id: "1", tool: "rm_rf", arguments: {} },
          { id: "2", tool: "read_file", arguments: { file: "a" } },
          { id: "3", tool: "read_file", arguments: "{oops" },
        ],
      ],
      ["sorry"],
    );
    const events = await run();
    expect(results(events).map(({ errorCode }) => errorCode)).toEqual(["not_found", "invalid_arguments", "invalid_arguments"]);
    expect(test.fake.seen.decided).toEqual([]);
    expect(test.fake.seen.requests[1]!.messages.at(-1)!.parts).toHaveLength(3);
  });

  it("runs no more calls in a turn than a turn may have", async () => {
    answers(["", ["1", "2", "3", "4"].map(read)], ["done"]);
    const events = await run();
    expect(results(events).map(({ success }) => success)).toEqual([true, true, true, false]);
    expect(results(events)[3]!.content).toContain("a turn may have 3 tool calls");
  });

  it("stops after its turns", async () => {
    test.fake.behaviour.generate = (_, call) => say(`turn ${call}`, [read(`file ${call}`)]);
    const events = await run();
    expect(stopped(events)).toMatchObject({
      reason: StopReason.MAX_TURNS_REACHED,
      turns: 4,
      toolCalls: 4,
      text: "turn 4",
      message: expect.stringContaining("4 turns"),
    });
    expect(valuesOf(events, "toolEnd")).toHaveLength(4);
  });

  it("does not run the third identical call in a row, and stops a model that goes on", async () => {
    answers(["", [read("a")]]);
    const events = await run();
    expect(results(events).map(({ success }) => success)).toEqual([true, true, false, false]);
    expect(test.fake.seen.executed).toHaveLength(2);
    expect(stopped(events)).toMatchObject({ reason: StopReason.ERROR, message: expect.stringContaining("kept making the same tool call") });
  });

  it("shows a tool's output while it runs", async () => {
    answers(["", [read("a")]], ["done"]);
    test.fake.behaviour.execute = async function* () {
      yield { event: { case: "output", value: { stream: 1, text: "one " } } };
      yield { event: { case: "output", value: { stream: 1, text: "two" } } };
      yield { event: { case: "result", value: { success: true, content: "one two" } } };
    };
    expect(
      valuesOf(await run(), "toolOutput")
        .map(({ output }) => output!.text)
        .join(""),
    ).toBe("one two");
  });

  it("finds a call written as text where the model is a weak one", async () => {
    test.fake.behaviour.model = { ...usual.model, tier: ModelTier.WEAK };
    answers(['I read. {"name":"read_file","arguments":{"path":"a"}}</tool_call>'], ["done"]);
    const events = await run();
    expect(valuesOf(events, "assistantMessage")[0]).toMatchObject({
      text: "I read.",
      toolCalls: [{ tool: "read_file", argumentsJson: '{"path":"a"}' }],
    });
    expect(results(events)).toMatchObject([{ success: true }]);
  });

  it("hands a model that only chats no tools", async () => {
    test.fake.behaviour.model = { ...usual.model, capability: ModelCapability.CHAT };
    answers(["hello"]);
    await run();
    expect(test.fake.seen.requests[0]!.tools).toEqual([]);
  });
});

describe("a model that fails", () => {
  const failure = (errorClass: ErrorClass, message: string): ConnectError =>
    new ConnectError(message, Code.Unavailable, undefined, [
      { desc: ModelErrorSchema, value: { class: errorClass, advice: "Do something." } },
    ]);

  const lost = new ConnectError("connection lost", Code.Unavailable);

  it("is asked again where the connection to the gateway was lost and nothing was shown", async () => {
    test.fake.behaviour.generate = (_, call) => (call < 3 ? refuse(lost) : say("at last"));
    expect(stopped(await run())).toMatchObject({ reason: StopReason.COMPLETED, text: "at last", turns: 1 });
    expect(test.fake.seen.requests).toHaveLength(3);
  });

  it("is not asked again for ever, nor where the gateway has tried again what may pass", async () => {
    test.fake.behaviour.generate = () => refuse(lost);
    expect(stopped(await run())).toMatchObject({ reason: StopReason.ERROR, message: "connection lost" });
    expect(test.fake.seen.requests).toHaveLength(3);
    for (const [count, errorClass] of [ErrorClass.TRANSIENT, ErrorClass.RATE_LIMIT, ErrorClass.PERMANENT].entries()) {
      test.fake.behaviour.generate = () => refuse(failure(errorClass, "overloaded"));
      expect(stopped(await run())).toMatchObject({ reason: StopReason.ERROR, message: "overloaded", advice: "Do something." });
      expect(test.fake.seen.requests).toHaveLength(4 + count);
    }
  });

  it("is asked once where it reaches its output limit before it says anything", async () => {
    answers(["", [], FinishReason.LENGTH]);
    expect(stopped(await run())).toMatchObject({ reason: StopReason.ERROR, message: expect.stringContaining("output limit") });
    expect(test.fake.seen.requests).toHaveLength(1);
  });

  it("that says nothing is not silent while the gateway hears that it is alive, and has shown nothing", async () => {
    test.fake.behaviour.generate = async function* (_, call) {
      for (let sign = 0; sign < 4; sign++) {
        yield { event: { case: "alive", value: {} } };
        await sleep(400);
      }
      yield* call === 1 ? refuse(lost) : say("at last");
    };
    expect(stopped(await run())).toMatchObject({ reason: StopReason.COMPLETED, text: "at last" });
  });

  it("whose stream is cut after text was shown ends the run, and what was shown is kept", async () => {
    test.fake.behaviour.generate = async function* () {
      yield { event: { case: "textDelta", value: "Half an ans" } };
    };
    const events = await run();
    expect(stopped(events)).toMatchObject({
      reason: StopReason.ERROR,
      text: "Half an ans",
      message: "The model's answer was cut off before its end.",
    });
    expect(test.fake.seen.requests).toHaveLength(1);
  });

  it("that is silent too long ends the run by timeout", async () => {
    let isAborted = false;
    test.fake.behaviour.generate = async function* (_, __, context) {
      yield { event: { case: "textDelta", value: "Well" } };
      await new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve()));
      isAborted = true;
    };
    const events = await run();
    expect(stopped(events)).toMatchObject({ reason: StopReason.TIMEOUT, message: "The model sent nothing for 1 s." });
    await expect.poll(() => isAborted).toBe(true);
  });

  it("that fails in a stateless session is not advised to be gone on with", async () => {
    test.fake.behaviour.generate = () => refuse(new ConnectError("gone", Code.Internal));
    const { sessionId, sequence } = await test.ask("What is this?", { stateless: true });
    expect(stopped(await test.watch(sessionId, sequence)).advice).toBe("Ask again: a stateless session cannot be gone on with.");
    expect(stopped(await run()).advice).toContain("--resume");
  });

  it("whose context overflows ends the run with context_exhausted", async () => {
    test.fake.behaviour.generate = () => refuse(failure(ErrorClass.CONTEXT_OVERFLOW, "too long"));
    expect(stopped(await run()).reason).toBe(StopReason.CONTEXT_EXHAUSTED);
  });

  it("that declines is an error with its words; one that reaches its output limit says so", async () => {
    answers(["", [], FinishReason.REFUSAL, "I will not."]);
    expect(stopped(await run())).toMatchObject({ reason: StopReason.ERROR, message: "The model declined to answer: I will not." });
    answers(["cut he", [], FinishReason.LENGTH]);
    expect(stopped(await run())).toMatchObject({
      reason: StopReason.COMPLETED,
      text: "cut he",
      message: expect.stringContaining("output limit"),
    });
  });
});

describe("a mesh that fails", () => {
  it("stops the run where policy cannot decide: nothing runs without a decision", async () => {
    answers(["", [read("a"), read("b")]]);
    test.fake.behaviour.decide = () => {
      throw new HlvmError({ code: "unavailable", reason: "database_unreachable", message: "Policy cannot record.", advice: "Start it." });
    };
    const events = await run();
    expect(stopped(events)).toMatchObject({ reason: StopReason.ERROR, message: "Policy cannot record.", advice: "Start it." });
    expect(results(events).map(({ errorCode }) => errorCode)).toEqual(["cancelled", "cancelled"]);
    expect(test.fake.seen.executed).toEqual([]);
  });

  it("does not run a call whose grant was lost on the way, and tells the audit log", async () => {
    answers(["", [read("a")]], ["done"]);
    let calls = 0;
    test.fake.behaviour.decide = () => {
      throw ++calls === 1
        ? new HlvmError({ code: "unavailable", reason: "unavailable", message: "gone" })
        : new HlvmError({ code: "already_exists", reason: "call_already_decided", message: "decided before" });
    };
    const events = await run();
    expect(results(events)).toMatchObject([
      { success: false, content: expect.stringContaining("was lost on the way, so read_file did not run") },
    ]);
    expect(test.fake.seen.executed).toEqual([]);
    expect(test.fake.seen.outcomes).toMatchObject([{ status: OutcomeStatus.REFUSED }]);
    expect(stopped(events).reason).toBe(StopReason.COMPLETED);
  });

  it.each([
    ["another call: nothing more takes effect", ["", [read("b")]]],
    ["its answer: that does not complete the run", ["done"]],
  ] as const)("stops the run where an outcome cannot be recorded and the model goes on with %s", async (_, next) => {
    test.fake.behaviour.recordOutcome = () => {
      throw new HlvmError({ code: "unavailable", reason: "database_unreachable", message: "no audit" });
    };
    answers(["", [read("a")]], [...next]);
    expect(stopped(await run())).toMatchObject({
      reason: StopReason.ERROR,
      message: expect.stringContaining("could not be written to the audit log"),
    });
    expect(test.fake.seen.executed).toHaveLength(1);
  });

  it("runs no tool when the log could not take its call, though policy allows it", async () => {
    test.fake.behaviour.generate = async function* ({ runId }) {
      await database.database.query("UPDATE run SET lease_owner = gen_random_uuid(), lease_until = now() WHERE run_id = $1", [runId]);
      yield* say("", [read("a")]);
    };
    const events = await run();
    expect(test.fake.seen.decided).toHaveLength(1);
    expect(test.fake.seen.executed).toEqual([]);
    expect(stopped(events).reason).toBe(StopReason.ERROR);
    await expect.poll(() => test.fake.seen.outcomes).toMatchObject([{ status: OutcomeStatus.CANCELLED }]);
  });

  it("names the outcome that could not be recorded, also where the model fails next", async () => {
    test.fake.behaviour.recordOutcome = () => {
      throw new HlvmError({ code: "unavailable", reason: "database_unreachable", message: "no audit" });
    };
    test.fake.behaviour.generate = (_, call) =>
      call === 1 ? say("", [read("a")]) : refuse(new ConnectError("no key", Code.Unauthenticated));
    expect(stopped(await run()).message).toContain("could not be written to the audit log");
  });

  it("opens the workspace again where the sandbox forgot it", async () => {
    answers(["", [read("a")]], ["done"]);
    let calls = 0;
    test.fake.behaviour.execute = async function* () {
      if (++calls === 1) throw new HlvmError({ code: "not_found", reason: "session_not_found", message: "not open" });
      yield { event: { case: "result", value: { success: true, content: "here" } } };
    };
    const events = await run();
    expect(results(events)).toMatchObject([{ content: "here" }]);
    expect(test.fake.seen.opened).toHaveLength(2);
  });

  it.each([
    [GetReceiptResponse_State.DONE, true, "the receipt"],
    [GetReceiptResponse_State.NEVER_STARTED, false, "It did not run"],
    [GetReceiptResponse_State.UNKNOWN, false, "not known whether it took effect"],
  ])("asks for the receipt of a call whose stream broke (state %s), and never runs it twice", async (state, success, content) => {
    answers(["", [read("a")]], ["done"]);
    test.fake.behaviour.execute = () => refuse(new ConnectError("connection lost", Code.Unavailable));
    test.fake.behaviour.receipt = () => ({ state, result: { success: true, content: "the receipt" } });
    const events = await run();
    expect(results(events)).toMatchObject([{ success, content: expect.stringContaining(content) }]);
    expect(test.fake.seen.executed).toHaveLength(1);
    expect(test.fake.seen.outcomes).toHaveLength(1);
  });

  it("asks for the receipt also where the stream breaks after the workspace was opened again", async () => {
    answers(["", [read("a")]], ["done"]);
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
    expect(results(await run())).toMatchObject([{ success: true, content: "the receipt" }]);
    expect(test.fake.seen.executed).toHaveLength(2);
  });

  it("says of a lost call to memory that it may have taken effect, and of a search that it failed", async () => {
    const write: SaidCall = { id: "w", tool: "memory_write", arguments: { text: "Ada likes tea" } };
    const search: SaidCall = { id: "s", tool: "memory_search", arguments: { query: "tea" } };
    answers(["", [write, search]], ["done"]);
    test.fake.behaviour.executeMemory = () => {
      throw new ConnectError("connection lost", Code.Unavailable);
    };
    const [written, searched] = results(await run());
    expect(written!.content).toContain("not known whether it took effect");
    expect(searched!.content).toContain("The tool failed");
  });

  it("goes on without memory, and says so", async () => {
    answers(["done"]);
    test.fake.behaviour.recall = () => Promise.reject(new ConnectError("index gone", Code.Unavailable));
    const events = await run();
    expect(valuesOf(events, "memoryActivity")).toMatchObject([{ recalled: [], notice: "Nothing was recalled: index gone" }]);
    expect(stopped(events).reason).toBe(StopReason.COMPLETED);
  });
});
