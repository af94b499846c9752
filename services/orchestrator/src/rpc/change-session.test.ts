import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { ArchiveFilter } from "@hlvm/proto/hlvm/session/v1/session_pb";
import { pauseModel } from "../testing/pause-model.ts";
import { ada } from "../testing/test-orchestrator.ts";
import { useTestOrchestrator } from "../testing/use-test-orchestrator.ts";

const test = useTestOrchestrator();

describe("UpdateSession", () => {
  it("gives a session another title, on one line and without the secrets in it", async () => {
    test.answers(["hi"]);
    const { sessionId } = await test.run("first");
    const options = await test.orchestrator.as(ada);
    const title = "the\nghp_0123456789abcdefABCDEF0123456789abcd run";
    const { session } = await test.orchestrator.client.updateSession({ sessionId, title }, options);
    expect(session!.title).toMatch(/^the \[secret: GitHub token [0-9a-f]{4}\] run$/);
    await expect(test.orchestrator.client.updateSession({ sessionId, title: "\n \n" }, options)).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: expect.stringContaining("A title needs"),
    });
  });

  it("archives a session, which a new run takes back", async () => {
    test.answers(["hi"]);
    const { sessionId } = await test.run("first");
    const options = await test.orchestrator.as(ada);
    const ids = async (archived: ArchiveFilter): Promise<string[]> =>
      (await test.orchestrator.client.listSessions({ archived }, options)).sessions.map((session) => session.sessionId);
    await test.orchestrator.client.updateSession({ sessionId, archived: true }, options);
    expect(await ids(ArchiveFilter.UNSPECIFIED)).not.toContain(sessionId);
    expect(await ids(ArchiveFilter.ONLY)).toEqual([sessionId]);
    expect(await ids(ArchiveFilter.INCLUDED)).toContain(sessionId);
    await test.run("again", { sessionId });
    expect(await ids(ArchiveFilter.ONLY)).toEqual([]);
    expect(await ids(ArchiveFilter.UNSPECIFIED)).toContain(sessionId);
  });
});

describe("DeleteSession", () => {
  it("deletes the log for good, and nothing while a run goes on", async () => {
    const paused = pauseModel(test.fake.behaviour);
    const { sessionId, sequence } = await test.ask("q");
    const options = await test.orchestrator.as(ada);
    await expect(test.orchestrator.client.deleteSession({ sessionId }, options)).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining("still going on"),
    });
    paused();
    await test.watch(sessionId, sequence);
    await test.orchestrator.client.deleteSession({ sessionId }, options);
    await expect(test.orchestrator.client.getSession({ sessionId }, options)).rejects.toMatchObject({ code: Code.NotFound });
    expect(await test.database.query("SELECT FROM event WHERE session_id = $1", [sessionId])).toEqual([]);
  });

  it("waits until the audit log has all outcomes", async () => {
    test.answers(["hi"]);
    const { sessionId } = await test.run("q");
    await test.database.query("UPDATE run SET reconcile_at = now() + interval '1 hour' WHERE session_id = $1", [sessionId]);
    const options = await test.orchestrator.as(ada);
    await expect(test.orchestrator.client.deleteSession({ sessionId }, options)).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining("audit log still lacks"),
    });
  });
});
