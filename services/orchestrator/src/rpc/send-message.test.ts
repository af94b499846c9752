import { describe, expect, it } from "vitest";
import type { Principal } from "@hlvm/identity/principal";
import { Role, type GenerateRequest } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { StopReason, type Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { valuesOf } from "../testing/event-values.ts";
import { say } from "../testing/say.ts";
import { ada } from "../testing/test-orchestrator.ts";
import { useTestOrchestrator } from "../testing/use-test-orchestrator.ts";

const test = useTestOrchestrator();
const grace: Principal = { organization: "local", id: "user:grace", roles: ["admin"] };
const stranger: Principal = { organization: "local", id: "user:mallory", roles: ["developer"] };

const send = async (
  sessionId: string,
  text: string,
  more: { interrupt?: boolean; by?: Principal; through?: typeof test.orchestrator } = {},
) => {
  const through = more.through ?? test.orchestrator;
  return through.client.sendMessage({ sessionId, text, interrupt: more.interrupt === true }, await through.as(more.by ?? ada));
};
/** What people said, as the model got it. */
const saidTo = ({ messages }: GenerateRequest): string[] =>
  messages.flatMap(({ role, parts }) => (role === Role.USER ? parts.map(({ part }) => (part.case === "text" ? part.value : "")) : []));
const isDelta = ({ payload }: Event): boolean => payload.case === "messageDelta";

/** The model's first turn calls a tool that runs until it is let go of; the second one answers. */
function holdTool(): { readonly begun: Promise<void>; readonly release: () => void; readonly isAborted: () => boolean } {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let isAborted = false;
  test.fake.behaviour.generate = (_, call) =>
    call === 1 ? say("", [{ tool: "shell_exec", arguments: { command: "make" } }]) : say(`Answer ${call}.`);
  test.fake.behaviour.execute = async function* (_, { signal }) {
    begun.resolve();
    signal.addEventListener("abort", () => {
      isAborted = true;
      released.resolve();
    });
    await released.promise;
    yield { event: { case: "result", value: { success: !isAborted, content: "made", errorCode: isAborted ? "cancelled" : "" } } };
  };
  return { begun: begun.promise, release: released.resolve, isAborted: () => isAborted };
}

describe("SendMessage", () => {
  it("is read before the next turn, in order, with its authors", async () => {
    const tool = holdTool();
    const { sessionId, runId, sequence } = await test.ask("q");
    await tool.begun;
    expect(await send(sessionId, "one")).toMatchObject({ runId });
    await send(sessionId, "two", { by: grace });
    tool.release();
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "messageQueued").map(({ text }) => text)).toEqual(["one", "two"]);
    expect(valuesOf(events, "userMessage").map(({ text, author }) => [text, author])).toEqual([
      ["q", ""],
      ["one", "user:ada"],
      ["two", "user:grace"],
    ]);
    expect(saidTo(test.fake.seen.requests[0]!)).toEqual(["q"]);
    expect(saidTo(test.fake.seen.requests[1]!)).toEqual(["q", "one", "two"]);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "Answer 2." }]);
  });

  it("through another replica is read before the run ends", async () => {
    const tool = holdTool();
    const through = await test.startProcess();
    const { sessionId, sequence } = await test.ask("q");
    await tool.begun;
    await send(sessionId, "from elsewhere", { through });
    tool.release();
    const events = await test.watch(sessionId, sequence);
    expect(saidTo(test.fake.seen.requests.at(-1)!)).toEqual(["q", "from elsewhere"]);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED }]);
    await through.stop();
  });

  it("while the last answer comes has the run go on, instead of being lost", async () => {
    const answering = Promise.withResolvers<void>();
    test.fake.behaviour.generate = async function* (_, call) {
      if (call === 1) {
        yield { event: { case: "textDelta", value: "Nearly " } };
        await answering.promise;
      }
      yield* say(`done ${call}.`);
    };
    const { sessionId, sequence } = await test.ask("q");
    await test.watch(sessionId, sequence, isDelta);
    await send(sessionId, "wait");
    answering.resolve();
    const events = await test.watch(sessionId, sequence);
    expect(saidTo(test.fake.seen.requests.at(-1)!)).toEqual(["q", "wait"]);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "done 2.", turns: 2 }]);
  });

  it("that interrupts stops an answer, keeps what was said of it, and goes on with the message", async () => {
    let isAborted = false;
    test.fake.behaviour.generate = async function* (_, call, context) {
      if (call > 1) return yield* say("Otherwise.");
      yield { event: { case: "textDelta", value: "Half an answer" } };
      await new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve()));
      isAborted = true;
    };
    const { sessionId, sequence } = await test.ask("q");
    await test.watch(sessionId, sequence, isDelta);
    await send(sessionId, "no, otherwise", { interrupt: true });
    const events = await test.watch(sessionId, sequence);
    await expect.poll(() => isAborted).toBe(true);
    expect(valuesOf(events, "assistantMessage").map(({ text }) => text)).toEqual(["Half an answer", "Otherwise."]);
    expect(test.fake.seen.requests[1]!.messages.map(({ role }) => role)).toEqual([Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.USER]);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "Otherwise." }]);
  });

  it("that interrupts stops a tool, whose call has its end and its outcome", async () => {
    const tool = holdTool();
    const { sessionId, sequence } = await test.ask("q");
    await tool.begun;
    await send(sessionId, "stop that", { interrupt: true });
    const events = await test.watch(sessionId, sequence);
    expect(tool.isAborted()).toBe(true);
    expect(valuesOf(events, "toolEnd")).toMatchObject([{ result: { errorCode: "cancelled" } }]);
    expect(saidTo(test.fake.seen.requests[1]!)).toEqual(["q", "stop that"]);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.COMPLETED, text: "Answer 2." }]);
    await expect.poll(() => test.fake.seen.outcomes.length).toBe(1);
  });

  it("that a cancelled run has not read is read by the next one", async () => {
    const tool = holdTool();
    const run = await test.ask("q");
    await tool.begun;
    await send(run.sessionId, "and mind the tests");
    await test.cancel(run);
    await test.watch(run.sessionId, run.sequence);
    await test.run("go on", { sessionId: run.sessionId });
    expect(saidTo(test.fake.seen.requests.at(-1)!)).toEqual(["q", "and mind the tests", "go on"]);
  });

  it("is refused to whoever may not use the session, and where no run goes on any more", async () => {
    const tool = holdTool();
    const { sessionId, sequence } = await test.ask("q");
    await tool.begun;
    await expect(send(sessionId, "mine", { by: stranger })).rejects.toThrow("There is no session");
    tool.release();
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "messageQueued")).toEqual([]);
    await expect(send(sessionId, "late")).rejects.toThrow("No run is going on");
  });
});
