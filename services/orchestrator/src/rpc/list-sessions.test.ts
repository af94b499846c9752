import { Code } from "@connectrpc/connect";
import type { Principal } from "@hlvm/identity/principal";
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

  it("give all sessions page by page, each once, also where many changed at the same moment", async () => {
    const owner: Principal = { ...ada, id: "user:grace" };
    await test.database.query(
      `INSERT INTO session (session_id, organization, owner, title, workspace, git_repository, git_branch, model, stateless, last_seq, updated_at)
       SELECT gen_random_uuid(), 'local', $1, 't', '/work', false, '', 'test/model', false, 0, now() - (i / 10) * interval '1 microsecond'
       FROM generate_series(1, 95) i`,
      [owner.id],
    );
    const options = await test.orchestrator.as(owner);
    const sizes: number[] = [];
    const seen = new Set<string>();
    for (let pageToken = "", isFirst = true; isFirst || pageToken !== ""; isFirst = false) {
      const page = await test.orchestrator.client.listSessions({ limit: 19, pageToken }, options);
      sizes.push(page.sessions.length);
      for (const { sessionId } of page.sessions) seen.add(sessionId);
      pageToken = page.nextPageToken;
    }
    expect(sizes).toEqual([19, 19, 19, 19, 19]);
    expect(seen.size).toBe(95);
  });

  it.each(["nonsense", Buffer.from("2026-02-31T00:00:00.000000Z 1f0c1a52-9d2c-4f2e-8f4e-0a4f3b1c2d3e").toString("base64url")])(
    "refuse the page token %s",
    async (pageToken) => {
      const call = test.orchestrator.client.listSessions({ pageToken }, await test.orchestrator.as(ada));
      await expect(call).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage: expect.stringContaining("page token") });
    },
  );
});
