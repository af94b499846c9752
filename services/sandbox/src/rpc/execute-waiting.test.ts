import { randomUUID } from "node:crypto";
import { GetReceiptResponse_State as State } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { afterEach, describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.ts";
import type { TestCall } from "../testing/call-tool.ts";
import { startTestService, type TestService } from "../testing/start-test-service.ts";

const colleague = { ...testPrincipal, id: "user:colleague" };
let service: TestService;
afterEach(() => service.close());

/** Takes a place, until it is told to leave it. */
async function occupy(sessionId: string): Promise<() => Promise<void>> {
  const begun = Promise.withResolvers<string>();
  const leave = new AbortController();
  const given = { command: "echo begun; sleep 30" };
  const busy = service.execute({ sessionId, tool: "shell_exec", given, onOutput: begun.resolve, signal: leave.signal });
  const ended = busy.then(
    () => undefined,
    () => undefined,
  );
  await begun.promise;
  return () => {
    leave.abort();
    return ended;
  };
}

/** Resolves when the call waits; `result` when it has ended. */
async function waiting(call: Omit<TestCall, "tool" | "given"> & Partial<TestCall>) {
  const waits = Promise.withResolvers<number>();
  const result = service.execute({ tool: "shell_exec", given: { command: "echo ran" }, ...call, onWaiting: waits.resolve });
  result.catch(() => undefined);
  return { position: await waits.promise, result };
}

describe("a call where all sandboxes are at work", () => {
  it("waits, says so, and runs when there is room", async () => {
    service = await startTestService({ maximumSandboxes: 1 });
    const leave = await occupy((await service.open()).sessionId);
    const { position, result } = await waiting(await service.open());
    expect(position).toBe(1);
    await leave();
    expect(await result).toMatchObject({ success: true, content: "ran\n" });
  });

  it("is never refused for want of room: 48 sessions at once on 3 sandboxes", async () => {
    service = await startTestService({ maximumSandboxes: 3 });
    const sessions = await Promise.all(Array.from({ length: 48 }, () => service.open()));
    const results = await Promise.all(
      sessions.map((session) => service.execute({ ...session, tool: "shell_exec", given: { command: "sleep 0.05; echo ran" } })),
    );
    expect(results.filter(({ content }) => content === "ran\n")).toHaveLength(48);
  });

  it("takes turns with the calls of other persons", async () => {
    service = await startTestService({ maximumSandboxes: 1 });
    const leave = await occupy((await service.open()).sessionId);
    const ended: string[] = [];
    const results: Promise<unknown>[] = [];
    for (const [name, principal] of [["a1"], ["a2"], ["a3"], ["b1", colleague]] as const) {
      const { result } = await waiting({ ...(await service.open(principal)), principal });
      results.push(result.then(() => ended.push(name)));
    }
    await leave();
    await Promise.all(results);
    expect(ended).toEqual(["a1", "b1", "a2", "a3"]);
  });

  it("that is cancelled leaves at once and did not run", async () => {
    service = await startTestService({ maximumSandboxes: 1 });
    const leave = await occupy((await service.open()).sessionId);
    const controller = new AbortController();
    const { sessionId } = await service.open();
    const cancelled = await waiting({ sessionId, callId: "cancelled", signal: controller.signal });
    const next = await waiting(await service.open());
    expect(next.position).toBe(2);
    controller.abort();
    expect(await refusal(cancelled.result)).toMatch(/^Canceled /);
    await leave();
    expect(await next.result).toMatchObject({ content: "ran\n" });
    expect((await service.receipt(sessionId, "cancelled")).state).toBe(State.NEVER_STARTED);
  });

  it("is refused when its deadline leaves no time to wait, and can be sent again with the same grant", async () => {
    service = await startTestService({ maximumSandboxes: 1 });
    const leave = await occupy((await service.open()).sessionId);
    const call = { ...(await service.open()), callId: "late", runId: randomUUID(), tool: "shell_exec", given: { command: "echo ran" } };
    const granted = { ...call, grant: service.sign({ ...call, principal: testPrincipal }) };
    expect(await refusal(service.execute({ ...granted, timeoutMs: 2_000 }))).toBe("ResourceExhausted too_many_sandboxes");
    expect((await service.receipt(call.sessionId, "late")).state).toBe(State.NEVER_STARTED);
    await leave();
    expect(await service.execute(granted)).toMatchObject({ content: "ran\n" });
  });

  it("does not wait where its session is at work already, nor for tools that need no sandbox", async () => {
    service = await startTestService({ maximumSandboxes: 1 });
    const { sessionId } = await service.open();
    const leave = await occupy(sessionId);
    expect(await service.execute({ sessionId, tool: "shell_exec", given: { command: "echo ran" } })).toMatchObject({ content: "ran\n" });
    const other = await service.open();
    expect(await service.execute({ ...other, tool: "list_processes", given: {} })).toMatchObject({ success: true });
    await leave();
  });

  it("runs when the process in the background that had the room has ended", async () => {
    service = await startTestService({ maximumSandboxes: 1 });
    const { sessionId } = await service.open();
    await service.execute({ sessionId, tool: "shell_exec", given: { command: "sleep 30", background: true } });
    const { result } = await waiting(await service.open());
    await service.execute({ sessionId, tool: "stop_process", given: { process_id: 1 } });
    expect(await result).toMatchObject({ content: "ran\n" });
  });

  it("is told so when its session is closed, and the next one gets the room of a session that is closed at work", async () => {
    service = await startTestService({ maximumSandboxes: 1 });
    const busy = await service.open();
    const leave = await occupy(busy.sessionId);
    const closed = await service.open();
    const first = await waiting(closed);
    const next = await waiting(await service.open());
    const headers = await service.headersOf(testPrincipal);
    await service.client.closeWorkspace({ sessionId: closed.sessionId }, headers);
    expect(await refusal(first.result)).toBe("NotFound session_not_found");
    await service.client.closeWorkspace({ sessionId: busy.sessionId }, headers);
    expect(await next.result).toMatchObject({ content: "ran\n" });
    await leave();
  });
});

describe("where many runs begin at once", () => {
  /** Answers of others have come back meanwhile, and this one has not. */
  async function isHeldBack(answer: Promise<unknown>, sessionId: string): Promise<boolean> {
    let isBack = false;
    const back = (): boolean => (isBack = true);
    answer.then(back, back);
    for (let time = 0; time < 3; time++) await service.receipt(sessionId, "none");
    return !isBack;
  }

  it("a session waits until another is idle, where no more may be open", async () => {
    service = await startTestService({ maximumOpen: 1 });
    const first = await service.open();
    const leave = await occupy(first.sessionId);
    const opened = service.open();
    expect(await isHeldBack(opened, first.sessionId)).toBe(true);
    await leave();
    const second = await opened;
    expect(await service.execute({ ...second, tool: "shell_exec", given: { command: "echo ran" } })).toMatchObject({ content: "ran\n" });
    expect(await refusal(service.execute({ ...first, tool: "shell_exec", given: { command: "true" } }))).toContain("session_not_found");
  });

  it("all of them are opened, one after the other", async () => {
    service = await startTestService({ maximumOpen: 2, maximumSandboxes: 2 });
    const opened = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const session = await service.open();
        const headers = await service.headersOf(testPrincipal);
        return (
          (await service.client.readInstructions({ sessionId: session.sessionId, folders: [""] }, headers)).workspace === session.workspace
        );
      }),
    );
    expect(opened).toEqual(Array(12).fill(true));
  });

  it("instructions are read when there is room for a sandbox", async () => {
    service = await startTestService({ maximumSandboxes: 1 });
    const { sessionId } = await service.open();
    const leave = await occupy(sessionId);
    const other = await service.open();
    const headers = await service.headersOf(testPrincipal);
    const read = service.client.readInstructions({ sessionId: other.sessionId, folders: [""] }, headers);
    expect(await isHeldBack(read, sessionId)).toBe(true);
    await leave();
    expect(await read).toMatchObject({ workspace: other.workspace });
  });
});
