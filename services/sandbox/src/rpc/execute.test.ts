import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GetReceiptResponse_State as State } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.ts";
import { useTestService } from "../testing/use-test-service.ts";

const service = useTestService();

describe("Execute", () => {
  it("runs a granted call, streams its output and ends with the result", async () => {
    const { sessionId, workspace } = await service.open();
    const pieces: string[] = [];
    const result = await service.execute({
      sessionId,
      tool: "shell_exec",
      given: { command: "echo one; echo two > made" },
      onOutput: (text) => pieces.push(text),
    });
    expect(result).toMatchObject({ success: true, content: "one\n", exitCode: 0, resultBytes: 4n });
    expect(pieces.join("")).toBe("one\n");
    expect(readFileSync(join(workspace, "made"), "utf8")).toBe("two\n");
  });

  it("runs a call id once: the second time its result is given back, and another call with it is refused", async () => {
    const { sessionId, workspace } = await service.open();
    const given = { command: "echo x >> count; wc -l < count" };
    const call = { sessionId, callId: "once", tool: "shell_exec", given };
    const first = await service.execute(call);
    const second = await service.execute(call);
    expect(first.content).toBe("1\n");
    expect(second).toMatchObject({ content: "1\n", durationMilliseconds: first.durationMilliseconds });
    expect(await refusal(service.execute({ ...call, given: { command: "echo y" } }))).toBe("AlreadyExists call_id_reused");
    expect(readFileSync(join(workspace, "count"), "utf8")).toBe("x\n");
  });

  it("runs two calls with one id that come at once as one", async () => {
    const { sessionId, workspace } = await service.open();
    const call = { sessionId, callId: "twins", tool: "shell_exec", given: { command: "echo x >> count; sleep 0.2" } };
    const [one, other] = await Promise.all([service.execute(call), service.execute(call)]);
    expect(one).toEqual(other);
    expect(readFileSync(join(workspace, "count"), "utf8")).toBe("x\n");
  });

  it("runs calls of one session in parallel", async () => {
    const { sessionId } = await service.open();
    const meet = (own: string, other: string) => ({ command: `touch ${own}; while [ ! -e ${other} ]; do sleep 0.01; done; echo met` });
    const results = await Promise.all([
      service.execute({ sessionId, tool: "shell_exec", given: meet("a", "b") }),
      service.execute({ sessionId, tool: "shell_exec", given: meet("b", "a") }),
    ]);
    expect(results.map(({ content }) => content)).toEqual(["met\n", "met\n"]);
  });

  it("ends the tool when the caller goes away, and keeps the receipt", async () => {
    const { sessionId, workspace } = await service.open();
    const leave = new AbortController();
    const command = "date +%s%N > beat; echo begun; while :; do date +%s%N > beat; sleep 0.01; done";
    const call = service.execute({
      sessionId,
      callId: "left",
      tool: "shell_exec",
      given: { command },
      signal: leave.signal,
      onOutput: () => leave.abort(),
    });
    expect(await refusal(call)).toMatch(/^Canceled /);
    await expect.poll(async () => (await service.receipt(sessionId, "left")).state).toBe(State.DONE);
    expect((await service.receipt(sessionId, "left")).result).toMatchObject({ success: false, errorCode: "cancelled" });
    const last = readFileSync(join(workspace, "beat"), "utf8");
    await service.execute({ sessionId, tool: "shell_exec", given: { command: "sleep 0.1" } });
    expect(readFileSync(join(workspace, "beat"), "utf8")).toBe(last);
  });

  it("gives every command a sandbox of its own, whatever the last one did to its own", async () => {
    const { sessionId } = await service.open();
    const killed = await service.execute({ sessionId, tool: "shell_exec", given: { command: "touch kept; kill -9 -1; kill -9 $$" } });
    expect(killed).toMatchObject({ success: false, errorCode: "command_failed", exitCode: 137 });
    expect((await service.execute({ sessionId, tool: "shell_exec", given: { command: "ls" } })).content).toBe("kept\n");
  });

  it("gives a run 2 MiB of results and no more", async () => {
    const { sessionId, workspace } = await service.open();
    const runId = randomUUID();
    writeFileSync(join(workspace, "large.txt"), `${"x".repeat(999)}\n`.repeat(99));
    let total = 0;
    let last = { success: false, truncated: false };
    for (let turn = 0; turn < 25 && !last.truncated; turn++) {
      const result = await service.execute({ sessionId, runId, tool: "read_file", given: { path: "large.txt", start_line: 1 } });
      total += result.content.length;
      last = result;
    }
    expect(last).toMatchObject({ success: true, errorCode: "", truncated: true, content: expect.stringContaining("used up") });
    expect(total).toBeLessThan(2 * 1024 * 1024 + 200);
    expect((await service.execute({ sessionId, runId: randomUUID(), tool: "read_file", given: { path: "large.txt" } })).success).toBe(true);
  });
});
