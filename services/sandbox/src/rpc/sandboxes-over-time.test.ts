import { testPrincipal } from "@hlvm/testing/test-identity";
import { describe, expect, it } from "vitest";
import { startTestService } from "../testing/start-test-service.ts";

describe("sandboxes over time", () => {
  it("stops an idle sandbox, and a call starts a new one with the files as they were", async () => {
    const short = await startTestService({ idleMilliseconds: 100 });
    const { sessionId } = await short.open();
    await short.execute({ sessionId, tool: "shell_exec", given: { command: "touch kept /tmp/gone" } });
    await expect.poll(async () => (await short.sessions.get(testPrincipal, sessionId)).sandbox.isUp).toBe(false);
    expect((await short.execute({ sessionId, tool: "shell_exec", given: { command: "ls . /tmp" } })).content).toBe(".:\nkept\n\n/tmp:\n");
    await short.close();
  });

  it("makes room by stopping the sandbox that is idle the longest", async () => {
    const small = await startTestService({ maximumSandboxes: 2 });
    const sessions = [await small.open(), await small.open(), await small.open()];
    for (const session of sessions) await small.execute({ ...session, tool: "read_file", given: { path: "." } });
    const held = await Promise.all(sessions.map(({ sessionId }) => small.sessions.get(testPrincipal, sessionId)));
    const isUp = held.map(({ sandbox }) => sandbox.isUp);
    expect(isUp).toEqual([false, true, true]);
    await small.close();
  });
});
