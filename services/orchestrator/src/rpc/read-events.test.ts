import { Code } from "@connectrpc/connect";
import type { Event } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { describe, expect, it } from "vitest";
import { pauseModel } from "../testing/pause-model.ts";
import { ada } from "../testing/test-orchestrator.ts";
import { useTestOrchestrator } from "../testing/use-test-orchestrator.ts";

const test = useTestOrchestrator();
const PIECES: ReadonlySet<string | undefined> = new Set(["messageDelta", "reasoningUpdate", "toolOutput"]);

describe("ReadEvents", () => {
  it("pages backwards through the whole log, nothing twice and nothing missing", async () => {
    test.answers(["", [{ tool: "git_status", arguments: {} }]], ["done"]);
    const { sessionId, events } = await test.run("q");
    const options = await test.orchestrator.as(ada);
    const read: Event[] = [];
    for (let before = 0n, hasMore = true; hasMore;) {
      const page = await test.orchestrator.client.readEvents({ sessionId, before, limit: 3 }, options);
      expect(page.events.length).toBeLessThanOrEqual(3);
      read.unshift(...page.events);
      before = read[0]!.sequence;
      ({ hasMore } = page);
    }
    expect(read).toEqual(events);
    expect((await test.orchestrator.client.readEvents({ sessionId, before: 1n }, options)).events).toEqual([]);
  });

  it("leaves out the pieces of what is whole, and none of what is still coming", async () => {
    test.answers(["hi"]);
    const { sessionId, events } = await test.run("q");
    expect(events.some(({ payload }) => PIECES.has(payload.case))).toBe(true);
    const options = await test.orchestrator.as(ada);
    const settled = await test.orchestrator.client.readEvents({ sessionId, settled: true }, options);
    expect(settled).toMatchObject({ hasMore: false, events: events.filter(({ payload }) => !PIECES.has(payload.case)) });

    const release = pauseModel(test.fake.behaviour);
    const { sequence } = await test.ask("and now?", { sessionId });
    await test.watch(sessionId, sequence, ({ payload }) => payload.case === "messageDelta");
    const open = await test.orchestrator.client.readEvents({ sessionId, settled: true }, options);
    expect(open.events.at(-1)!.payload).toMatchObject({ case: "messageDelta", value: { text: "Well, " } });
    release();
    await test.watch(sessionId, sequence);
  });

  it("keeps what was said of an answer that was cut: it is whole nowhere", async () => {
    const release = pauseModel(test.fake.behaviour);
    const { sessionId, runId, sequence } = await test.ask("q");
    await test.watch(sessionId, sequence, ({ payload }) => payload.case === "messageDelta");
    const options = await test.orchestrator.as(ada);
    await test.orchestrator.client.cancelRun({ sessionId, runId }, options);
    const events = await test.watch(sessionId, sequence);
    release();
    const isWhole = events.some(({ payload }) => payload.case === "assistantMessage");
    const settled = await test.orchestrator.client.readEvents({ sessionId, settled: true }, options);
    expect(settled.events.some(({ payload }) => payload.case === (isWhole ? "assistantMessage" : "messageDelta"))).toBe(true);
  });

  it("shows nothing to another organization", async () => {
    test.answers(["hi"]);
    const { sessionId } = await test.run("q");
    const options = await test.orchestrator.as({ organization: "other", id: "user:eve", roles: ["admin"] });
    await expect(test.orchestrator.client.readEvents({ sessionId }, options)).rejects.toMatchObject({ code: Code.NotFound });
  });
});
