import { randomUUID } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { valuesOf } from "../testing/event-values.ts";
import { say } from "../testing/say.ts";
import { useTestOrchestrator } from "../testing/use-test-orchestrator.ts";

const test = useTestOrchestrator();

describe("CancelRun", () => {
  it("stops the model and keeps what it said", async () => {
    let isAborted = false;
    test.fake.behaviour.generate = async function* (_, __, { signal }) {
      yield { event: { case: "textDelta", value: "Half an answer" } };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      isAborted = true;
    };
    const { sessionId, runId, sequence } = await test.ask("q");
    await test.watch(sessionId, sequence, ({ payload }) => payload.case === "messageDelta");
    expect(await test.cancel({ sessionId, runId })).toMatchObject({ cancelled: true });
    const events = await test.watch(sessionId, sequence);
    await expect.poll(() => isAborted).toBe(true);
    expect(valuesOf(events, "runStopped")).toMatchObject([
      { reason: StopReason.USER_CANCELLED, text: "Half an answer", advice: expect.stringContaining(`--resume ${sessionId}`) },
    ]);
    expect(await test.cancel({ sessionId, runId })).toMatchObject({ cancelled: false });
  });

  it.each(["the replica that runs it", "another replica"])("stops the tools through %s, and every call has its end", async (through) => {
    let isAborted = false;
    test.fake.behaviour.generate = () =>
      say("", [
        { id: "1", tool: "shell_exec", arguments: { command: "sleep 60" } },
        { id: "2", tool: "git_status", arguments: {} },
      ]);
    test.fake.behaviour.execute = async function* ({ call }, { signal }) {
      if (call!.tool === "git_status") return yield { event: { case: "result", value: { success: true, content: "clean" } } };
      yield { event: { case: "output", value: { text: "sleeping\n" } } };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      isAborted = true;
    };
    const other = through === "another replica" ? await test.startProcess() : undefined;
    const { sessionId, runId, sequence } = await test.ask("q");
    await test.watch(sessionId, sequence, ({ payload }) => payload.case === "toolOutput");
    await test.cancel({ sessionId, runId }, other);
    const events = await test.watch(sessionId, sequence);
    await expect.poll(() => isAborted).toBe(true);
    expect(valuesOf(events, "toolEnd").map(({ tool, result }) => [tool, result!.errorCode])).toEqual([
      ["shell_exec", "cancelled"],
      ["git_status", ""],
    ]);
    expect(valuesOf(events, "runStopped")).toMatchObject([{ reason: StopReason.USER_CANCELLED }]);
    expect(test.fake.seen.outcomes).toHaveLength(2);
    await other?.stop();
  });

  it("ends a wait for a person", async () => {
    test.fake.behaviour.generate = () => say("", [{ tool: "shell_exec", arguments: { command: "make" } }]);
    test.fake.behaviour.decide = () => ({ decision: 2, approval: { approvalId: randomUUID() } });
    test.fake.behaviour.awaitApproval = (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new ConnectError("gone", Code.Canceled))));
    const { sessionId, runId, sequence } = await test.ask("q");
    await test.watch(sessionId, sequence, ({ payload }) => payload.case === "permissionCheck");
    await test.cancel({ sessionId, runId });
    const events = await test.watch(sessionId, sequence);
    expect(valuesOf(events, "toolEnd")).toMatchObject([{ result: { errorCode: "cancelled" } }]);
    expect(test.fake.seen.executed).toEqual([]);
  });
});
