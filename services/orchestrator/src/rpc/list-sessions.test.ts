import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import type { Principal } from "@hlvm/identity/principal";
import { describe, expect, it } from "vitest";
import { StopReason } from "@hlvm/proto/hlvm/session/v1/event_pb";
import { SessionState, type ListSessionsRequestSchema } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { ada } from "../testing/test-orchestrator.ts";
import { SessionRight } from "@hlvm/proto/hlvm/session/v1/sharing_pb";
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
    expect(session).toEqual({ ...sessions[0], right: SessionRight.OWN });
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

  it("find words of titles and messages, by their beginnings and in any script, of nobody else", async () => {
    const find = async (text: string, principal = ada): Promise<[string, string][]> => {
      const { client, as } = test.orchestrator;
      const { sessions, excerpts } = await client.listSessions({ text }, await as(principal));
      return sessions.map(({ title }, index) => [title, excerpts[index]!]);
    };
    test.answers([`${"x ".repeat(100)}the Quetzal's nest lies in services/sandbox-runner.ts`]);
    await test.run("where is it?");
    test.answers(["鳥は木にいる"]);
    await test.run("Überall");
    expect(await find("quetz nest")).toEqual([["where is it?", expect.stringMatching(/^….*the Quetzal's nest lies/)]]);
    expect(await find("sandbox-runner")).toHaveLength(1);
    expect(await find("木")).toEqual([["Überall", "鳥は木にいる"]]);
    expect(await find("ÜBER")).toEqual([["Überall", "Überall"]]);
    expect(await find("quetzal überall")).toEqual([]);
    expect(await find("'); drop table event; -- ' | quetzal")).toEqual([]);
    await expect(find("?! --")).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage: expect.stringContaining("no letter") });
    expect(await find("quetzal", { ...ada, id: "user:grace" })).toEqual([]);
    expect(await find("quetzal", { ...ada, organization: "other" })).toEqual([]);
  });

  it("narrow by workspace, model, time, state and how the last run ended", async () => {
    test.answers(["hi"]);
    const { sessionId } = await test.run("narrowed");
    const options = await test.orchestrator.as(ada);
    const isFound = async (filter: MessageInitShape<typeof ListSessionsRequestSchema>): Promise<boolean> =>
      (await test.orchestrator.client.listSessions(filter, options)).sessions.some((session) => session.sessionId === sessionId);
    const hour = (hours: number) => timestampFromDate(new Date(Date.now() + hours * 3_600_000));
    for (const [filter, expected] of [
      [{ workspace: "/work" }, true],
      [{ workspace: "/" }, true],
      [{ workspace: "/wor" }, false],
      [{ model: "test/model" }, true],
      [{ model: "other/model" }, false],
      [{ since: hour(-1), until: hour(1) }, true],
      [{ since: hour(1) }, false],
      [{ until: hour(-1) }, false],
      [{ state: SessionState.ENDED }, true],
      [{ state: SessionState.RUNNING }, false],
      [{ state: SessionState.NEW }, false],
      [{ lastStopReason: StopReason.COMPLETED }, true],
      [{ lastStopReason: StopReason.ERROR }, false],
    ] as const)
      expect([filter, await isFound(filter)]).toEqual([filter, expected]);
  });

  it.each(["nonsense", Buffer.from("2026-02-31T00:00:00.000000Z 1f0c1a52-9d2c-4f2e-8f4e-0a4f3b1c2d3e").toString("base64url")])(
    "refuse the page token %s",
    async (pageToken) => {
      const call = test.orchestrator.client.listSessions({ pageToken }, await test.orchestrator.as(ada));
      await expect(call).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage: expect.stringContaining("page token") });
    },
  );
});
