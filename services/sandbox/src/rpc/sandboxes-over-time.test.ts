import { testPrincipal } from "@hlvm/testing/test-identity";
import { describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.ts";
import { startTestService } from "../testing/start-test-service.ts";

describe("sandboxes over time", () => {
  it("stops an idle sandbox, and a call starts a new one with the files as they were", async () => {
    const short = await startTestService({ idleMilliseconds: 100 });
    const { sessionId } = await short.open();
    await short.execute({ sessionId, tool: "shell_exec", given: { command: "touch kept /tmp/gone" } });
    await expect.poll(() => short.sessions.get(testPrincipal, sessionId).sandbox.isUp).toBe(false);
    expect((await short.execute({ sessionId, tool: "shell_exec", given: { command: "ls . /tmp" } })).content).toBe(".:\nkept\n\n/tmp:\n");
    await short.close();
  });

  it("makes room by stopping the sandbox that is idle the longest, and refuses where all are at work", async () => {
    const small = await startTestService({ maximumSandboxes: 1 });
    const one = await small.open();
    await small.execute({ ...one, tool: "shell_exec", given: { command: "true" } });
    const two = await small.open();
    await small.execute({ ...two, tool: "shell_exec", given: { command: "true" } });
    expect(small.sessions.get(testPrincipal, two.sessionId).sandbox.isUp).toBe(true);
    const begun = Promise.withResolvers<string>();
    const leave = new AbortController();
    const busy = small.execute({
      ...two,
      tool: "shell_exec",
      given: { command: "echo begun; sleep 30" },
      onOutput: begun.resolve,
      signal: leave.signal,
    });
    busy.catch(() => undefined);
    await begun.promise;
    expect(await refusal(small.execute({ ...one, tool: "shell_exec", given: { command: "true" } }))).toBe(
      "ResourceExhausted too_many_sandboxes",
    );
    leave.abort();
    await small.close();
  });
});
