import { describe, expect, it } from "vitest";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { ada } from "../testing/test-orchestrator.ts";
import { useTestOrchestrator } from "../testing/use-test-orchestrator.ts";

const test = useTestOrchestrator();

describe("ListSessions and GetSession", () => {
  it("tell of the caller's sessions, the one changed last first", async () => {
    test.answers(["hi"]);
    const first = await test.run("first\nquestion");
    const second = await test.run("second");
    await test.run("more", { sessionId: first.sessionId });
    const options = await test.orchestrator.as(ada);
    const { sessions } = await test.orchestrator.client.listSessions({ limit: 2 }, options);
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([first.sessionId, second.sessionId]);
    const { session } = await test.orchestrator.client.getSession({ sessionId: first.sessionId }, options);
    expect(session).toMatchObject({
      title: "first question",
      owner: "user:ada",
      workspace: "/work",
      model: "test/model",
      runningRunId: "",
      lastStopReason: StopReason.COMPLETED,
    });
    expect(session).toEqual(sessions[0]);
  });
});
