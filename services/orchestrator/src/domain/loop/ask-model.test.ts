import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { ErrorAdviceSchema } from "@hlvm/proto/hlvm/error/v1/error_pb";
import { ErrorClass, FinishReason, ModelErrorSchema, type ResumeRequest } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { valuesOf } from "../../testing/event-values.ts";
import { refuse } from "../../testing/refuse.ts";
import { say } from "../../testing/say.ts";
import { useTestOrchestrator } from "../../testing/use-test-orchestrator.ts";

const test = useTestOrchestrator({ HLVM_MODEL_SILENCE_SECONDS: "1" });

describe("a model that fails", () => {
  const failure = (errorClass: ErrorClass, message: string): ConnectError =>
    new ConnectError(message, Code.Unavailable, undefined, [
      { desc: ModelErrorSchema, value: { class: errorClass, advice: "Do something." } },
    ]);

  const lost = new ConnectError("connection lost", Code.Unavailable);

  it("is asked again where the connection to the gateway was lost and nothing was shown", async () => {
    test.fake.behaviour.generate = (_, call) => (call < 3 ? refuse(lost) : say("at last"));
    expect((await test.run()).stopped).toMatchObject({ reason: StopReason.COMPLETED, text: "at last", turns: 1 });
    expect(test.fake.seen.requests).toHaveLength(3);
  });

  it("goes on with an answer whose connection was lost, once and whole, and says so; one that is gone is asked for again", async () => {
    const seen: unknown[] = [];
    const first = { event: { case: "alive" as const, value: {} }, resumeToken: "token", resumeSeconds: 5 };
    test.fake.behaviour.generate = async function* (request, call) {
      const resumed = request as unknown as ResumeRequest;
      seen.push([resumed.resumeToken, resumed.afterSequence, resumed.digest]);
      yield { ...first, event: { case: "alive", value: { resumed: call > 1 } } };
      if (call === 1) yield { event: { case: "textDelta", value: "At " }, sequence: 1n, digest: 7 };
      if (call < 4) yield* refuse(lost);
      yield { event: { case: "textDelta", value: "last" }, sequence: 2n, digest: 8 };
      yield { event: { case: "usage", value: { inputTokens: 5n } }, sequence: 3n, digest: 9 };
      yield { event: { case: "finish", value: { reason: FinishReason.STOP } }, sequence: 4n, digest: 10 };
    };
    const { stopped, events } = await test.run();
    expect(stopped).toMatchObject({ reason: StopReason.COMPLETED, text: "At last", turns: 1 });
    expect(seen.slice(1)).toEqual(Array.from({ length: 3 }, () => ["token", 1n, 7]));
    expect(valuesOf(events, "assistantMessage")).toMatchObject([{ text: "At last", resumed: 3, runUsage: { inputTokens: 5n } }]);
    const gone = new ConnectError("gone", Code.FailedPrecondition, undefined, [
      { desc: ErrorAdviceSchema, value: { reason: "resume_not_possible", advice: "" } },
    ]);
    test.fake.behaviour.generate = async function* (_, call) {
      if (call === 5) yield first;
      yield* call === 5 ? refuse(lost) : call === 6 ? refuse(gone) : say("anew");
    };
    expect((await test.run()).stopped).toMatchObject({ reason: StopReason.COMPLETED, text: "anew" });
  });

  it("is not asked again for ever, nor where the gateway has tried again what may pass", async () => {
    test.fake.behaviour.generate = () => refuse(lost);
    expect((await test.run()).stopped).toMatchObject({ reason: StopReason.ERROR, message: "connection lost" });
    expect(test.fake.seen.requests).toHaveLength(3);
    for (const [count, errorClass] of [ErrorClass.TRANSIENT, ErrorClass.RATE_LIMIT, ErrorClass.PERMANENT].entries()) {
      test.fake.behaviour.generate = () => refuse(failure(errorClass, "overloaded"));
      expect((await test.run()).stopped).toMatchObject({ reason: StopReason.ERROR, message: "overloaded", advice: "Do something." });
      expect(test.fake.seen.requests).toHaveLength(4 + count);
    }
  });

  it("is asked once where it reaches its output limit before it says anything", async () => {
    test.answers(["", [], FinishReason.LENGTH]);
    expect((await test.run()).stopped).toMatchObject({ reason: StopReason.ERROR, message: expect.stringContaining("output limit") });
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
    expect((await test.run()).stopped).toMatchObject({ reason: StopReason.COMPLETED, text: "at last" });
  });

  it("is asked again in another turn where the connection was lost after text was shown", async () => {
    test.fake.behaviour.generate = async function* (_, call) {
      yield { event: { case: "textDelta", value: "At " } };
      yield* call < 3 ? refuse(lost) : say("last");
    };
    const { stopped, events } = await test.run();
    expect(stopped).toMatchObject({ reason: StopReason.COMPLETED, text: "At last", turns: 3 });
    expect(valuesOf(events, "assistantMessage")).toMatchObject([{ text: "At last" }]);
    const [first, , third] = test.fake.seen.requests;
    expect(third!.messages).toEqual(first!.messages);
  });

  it("whose stream is cut again and again after text was shown ends the run, and what was shown is kept", async () => {
    test.fake.behaviour.generate = async function* () {
      yield { event: { case: "textDelta", value: "Half an ans" } };
    };
    const { stopped } = await test.run();
    expect(stopped).toMatchObject({
      reason: StopReason.ERROR,
      text: "Half an ans",
      message: "The model's answer was cut off before its end.",
    });
    expect(test.fake.seen.requests).toHaveLength(4);
  });

  it("that is silent too long ends the run by timeout", async () => {
    let isAborted = false;
    test.fake.behaviour.generate = async function* (_, __, context) {
      yield { event: { case: "textDelta", value: "Well" } };
      await new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve()));
      isAborted = true;
    };
    const { stopped } = await test.run();
    expect(stopped).toMatchObject({ reason: StopReason.TIMEOUT, message: "The model sent nothing for 1 s." });
    await expect.poll(() => isAborted).toBe(true);
  });

  it("that fails in a stateless session is not advised to be gone on with", async () => {
    test.fake.behaviour.generate = () => refuse(new ConnectError("gone", Code.Internal));
    const stateless = await test.run("What is this?", { stateless: true });
    expect(stateless.stopped.advice).toBe("Ask again: a stateless session cannot be gone on with.");
    expect((await test.run()).stopped.advice).toContain("--resume");
  });

  it("whose context overflows ends the run with context_exhausted", async () => {
    test.fake.behaviour.generate = () => refuse(failure(ErrorClass.CONTEXT_OVERFLOW, "too long"));
    expect((await test.run()).stopped.reason).toBe(StopReason.CONTEXT_EXHAUSTED);
  });

  it("that declines is an error with its words; one that reaches its output limit says so", async () => {
    test.answers(["", [], FinishReason.REFUSAL, "I will not."]);
    expect((await test.run()).stopped).toMatchObject({ reason: StopReason.ERROR, message: "The model declined to answer: I will not." });
    test.answers(["cut he", [], FinishReason.LENGTH]);
    expect((await test.run()).stopped).toMatchObject({
      reason: StopReason.COMPLETED,
      text: "cut he",
      message: expect.stringContaining("output limit"),
    });
  });
});
