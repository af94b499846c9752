import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import type { Principal } from "@hlvm/identity/principal";
import { PermissionMode } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { valuesOf } from "../testing/event-values.ts";
import { pauseModel } from "../testing/pause-model.ts";
import { ada } from "../testing/test-orchestrator.ts";
import { useTestOrchestrator } from "../testing/use-test-orchestrator.ts";

const eve: Principal = { organization: "other", id: "user:eve", roles: ["admin"] };
const settings = { mode: PermissionMode.DEFAULT };
const test = useTestOrchestrator();

describe("Watch", () => {
  it("follows live, and goes on after a cut at the number last seen", async () => {
    const release = pauseModel(test.fake.behaviour);
    const { sessionId } = await test.ask("q");
    const before = await test.watch(sessionId, 0n, ({ payload }) => payload.case === "messageDelta");
    release();
    const after = await test.watch(sessionId, before.at(-1)!.sequence + 1n);
    const all = await test.watch(sessionId, 1n);
    expect([...before, ...after]).toEqual(all);
    expect(
      valuesOf(after, "messageDelta")
        .map(({ text }) => text)
        .join(""),
    ).toBe("here it is.");
  });

  it("ends with the log where nobody wants to follow", async () => {
    test.answers(["hi"]);
    const { sessionId, events } = await test.run("q");
    const options = await test.orchestrator.as(ada);
    const seen = [];
    for await (const response of test.orchestrator.client.watch({ sessionId, fromSequence: 2n }, options)) seen.push(...response.events);
    expect(seen).toEqual(events.slice(1));
  });

  it("is followed through another replica", async () => {
    const other = await test.startProcess();
    const release = pauseModel(test.fake.behaviour);
    const { sessionId } = await test.ask("q");
    const seen: (string | undefined)[] = [];
    for await (const { events } of other.client.watch({ sessionId, follow: true }, await other.as(ada))) {
      seen.push(...events.map(({ payload }) => payload.case));
      if (seen.includes("messageDelta")) release();
      if (seen.includes("runStopped")) break;
    }
    expect(seen.at(-1)).toBe("runStopped");
    await other.stop();
  });

  it("shows nothing to another organization", async () => {
    test.answers(["hi"]);
    const { sessionId, runId } = await test.run("q");
    const options = await test.orchestrator.as(eve);
    const { client } = test.orchestrator;
    const watching = (async () => {
      for await (const event of client.watch({ sessionId }, options)) return event;
    })();
    const refused = await Promise.allSettled([
      watching,
      client.getSession({ sessionId }, options),
      client.cancelRun({ sessionId, runId }, options),
      client.startRun(test.asEdge({ sessionId, prompt: "q", settings }, eve), options),
    ]);
    for (const call of refused) expect(call).toMatchObject({ status: "rejected", reason: { code: Code.NotFound } });
    expect((await client.listSessions({}, options)).sessions).toEqual([]);
  });
});
