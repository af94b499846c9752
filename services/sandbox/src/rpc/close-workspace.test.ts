import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { GetReceiptResponse_State as State } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { testEnforcement, testPrincipal } from "@hlvm/testing/test-identity";
import { describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.ts";
import { stranger } from "../testing/stranger.ts";
import { useTestService } from "../testing/use-test-service.ts";

const service = useTestService();

describe("CloseWorkspace", () => {
  const close = async (sessionId: string, principal = testPrincipal) =>
    service.client.closeWorkspace({ sessionId }, await service.headersOf(principal));
  const journalOf = (sessionId: string): string => join(service.stateDirectory, "receipts", `${sessionId}.ndjson`);

  it("ends a session's sandbox and leaves none of its results on the disk", async () => {
    const { sessionId } = await service.open();
    await service.execute({ sessionId, callId: "before", tool: "shell_exec", given: { command: "echo secret" } });
    expect(readFileSync(journalOf(sessionId), "utf8")).toContain("secret");
    await close(sessionId);
    expect(existsSync(journalOf(sessionId))).toBe(false);
    expect(await refusal(service.execute({ sessionId, tool: "git_status", given: {} }))).toBe("NotFound session_not_found");
    expect((await service.receipt(sessionId, "before")).state).toBe(State.UNKNOWN);
    await close(sessionId);
  });

  it("writes nothing more of a call that it ends", async () => {
    const { sessionId } = await service.open();
    const begun = Promise.withResolvers<string>();
    const given = { command: "echo begun; sleep 60" };
    const running = service.execute({ sessionId, tool: "shell_exec", given, onOutput: begun.resolve });
    await begun.promise;
    await close(sessionId);
    expect(await running).toMatchObject({ success: false, errorCode: "unavailable" });
    expect(existsSync(journalOf(sessionId))).toBe(false);
  });

  it("starts no call that came before it and was not yet begun", async () => {
    const { sessionId, workspace } = await service.open();
    const session = await service.sessions.get(testPrincipal, sessionId);
    await close(sessionId);
    const run = {
      callId: "late",
      runId: "run",
      tool: "shell_exec",
      argumentsJson: '{"command":"touch late"}',
      fingerprint: "f",
      enforcement: testEnforcement,
    };
    const events = session.run({ ...run, timeoutMilliseconds: 10_000, waitMilliseconds: 0 }, new AbortController().signal);
    await expect(events.next()).rejects.toMatchObject({ reason: "session_not_found" });
    expect(existsSync(journalOf(sessionId))).toBe(false);
    expect(existsSync(join(workspace, "late"))).toBe(false);
  });

  it("forgets a session of an earlier process too, and none of another organization's", async () => {
    const { sessionId } = await service.open();
    await service.execute({ sessionId, tool: "shell_exec", given: { command: "true" } });
    expect(await refusal(close(sessionId, stranger))).toBe("NotFound session_not_found");
    await service.restart();
    expect(await refusal(close(sessionId, stranger))).toBe("NotFound session_not_found");
    expect(existsSync(journalOf(sessionId))).toBe(true);
    await close(sessionId);
    expect(existsSync(journalOf(sessionId))).toBe(false);
  });
});
