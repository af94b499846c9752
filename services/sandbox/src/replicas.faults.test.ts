import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GetReceiptResponse_State as State } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { testPrincipal } from "@hlvm/testing/test-identity";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callOptions, callTool, type TestCall } from "./testing/call-tool.ts";
import { followingClient } from "./testing/following-client.ts";
import { movedTo } from "./testing/moved-to.ts";
import { refusal } from "./testing/refusal.ts";
import { startTestReplicas, type TestReplica, type TestReplicas } from "./testing/start-test-replicas.ts";

const SESSIONS = 40;

let replicas: TestReplicas;
let one: TestReplica;
let other: TestReplica;

beforeEach(async () => {
  replicas = await startTestReplicas();
  [one, other] = await Promise.all([replicas.start("one"), replicas.start("other")]);
});
afterEach(() => replicas.close());

/** A new session, open at that replica. */
async function openAt(replica: TestReplica): Promise<{ sessionId: string; workspace: string }> {
  const session = { sessionId: randomUUID(), workspace: replicas.newWorkspace() };
  await replica.open(session.sessionId, session.workspace);
  return session;
}

const shell = (sessionId: string, command: string, more: Partial<TestCall> = {}): TestCall => ({
  sessionId,
  tool: "shell_exec",
  given: { command },
  ...more,
});

/** Starts a call and resolves when it prints; what comes of it is told by `ended`. */
async function begin(replica: TestReplica, call: TestCall) {
  const printed = Promise.withResolvers<string>();
  const ended = replica.execute({ ...call, onOutput: printed.resolve });
  ended.catch(printed.reject);
  await printed.promise;
  return { ended };
}

const receiptAt = async (replica: TestReplica, sessionId: string, callId: string): Promise<State> =>
  (await replica.client.getReceipt({ sessionId, callId }, replicas.options())).state;

describe("two replicas", () => {
  it("claim each session once, whoever opens it at the same moment", async () => {
    const opened = await Promise.all(
      Array.from({ length: SESSIONS }, async () => {
        const [sessionId, workspace] = [randomUUID(), replicas.newWorkspace()];
        return Promise.all([one, other].map((replica) => movedTo(replica.open(sessionId, workspace))));
      }),
    );
    for (const [atOne, atOther] of opened) {
      const isAtOne = atOne === undefined;
      const moved = { address: isAtOne ? one.address : other.address, epoch: 1n };
      expect([atOne, atOther]).toEqual(isAtOne ? [undefined, moved] : [moved, undefined]);
    }
  });

  it("refuse what is about a session of the other, and tell only its owner where it is", async () => {
    const { sessionId, workspace } = await openAt(one);
    const stranger = callOptions(replicas.identity, { ...testPrincipal, id: "user:stranger" });
    const ask = (options = replicas.options()) => [
      other.client.openWorkspace({ sessionId, path: workspace }, options),
      other.client.getReceipt({ sessionId, callId: "call" }, options),
      other.client.listProcesses({ sessionId }, options),
      other.client.stopProcess({ sessionId, processId: 1 }, options),
      other.client.closeWorkspace({ sessionId }, options),
    ];
    const moved = { address: one.address, epoch: 1n };
    for (const refused of await Promise.all([...ask(), other.execute(shell(sessionId, "true"))].map(movedTo)))
      expect(refused).toEqual(moved);
    for (const refused of await Promise.all(ask(stranger).map(refusal))) expect(refused).toBe("NotFound session_not_found");
    expect(await refusal(other.open(sessionId, "/nonexistent"))).toBe("FailedPrecondition sandbox_moved");
  });

  it("are followed: a caller that knows one of them reaches the sessions of both", async () => {
    const client = followingClient(other.address);
    const { sessionId, workspace } = await openAt(one);
    const call = (more: TestCall) => callTool(replicas.identity, client, more);
    expect((await call(shell(sessionId, "echo hi > made; echo done", { callId: "first" }))).content).toBe("done\n");
    expect(readFileSync(join(workspace, "made"), "utf8")).toBe("hi\n");
    await call({ sessionId, tool: "shell_exec", given: { command: "sleep 60", background: true } });
    const { processes } = await client.listProcesses({ sessionId }, replicas.options());
    expect(processes).toMatchObject([{ command: "sleep 60", end: "" }]);
    await client.stopProcess({ sessionId, processId: processes[0]!.processId }, replicas.options());
    expect((await client.getReceipt({ sessionId, callId: "first" }, replicas.options())).state).toBe(State.DONE);
    await client.closeWorkspace({ sessionId }, replicas.options());
    expect(await refusal(one.execute(shell(sessionId, "true")))).toBe("NotFound session_not_found");
    expect(await replicas.placed.database.query("SELECT FROM placement")).toEqual([]);
  });

  it("share a state directory: what one of them starts, runs and ends leaves the other as it is", async () => {
    const { sessionId, workspace } = await openAt(one);
    writeFileSync(join(workspace, "read.txt"), "text\n");
    const works = async (): Promise<void> => {
      expect((await one.execute({ sessionId, tool: "read_file", given: { path: "read.txt" } })).success).toBe(true);
      expect((await one.execute(shell(sessionId, "echo ok"))).content).toBe("ok\n");
      const fresh = await openAt(one);
      writeFileSync(join(fresh.workspace, "read.txt"), "text\n");
      expect((await one.execute({ ...fresh, tool: "read_file", given: { path: "read.txt" } })).success).toBe(true);
    };
    await one.execute(shell(sessionId, "echo kept > ~/home-file"));
    const third = replicas.start("third");
    await works();
    const started = await third;
    await works();
    started.kill("SIGTERM");
    await started.exited;
    await works();
    expect((await one.execute(shell(sessionId, "cat ~/home-file"))).content).toBe("kept\n");
  });
});

describe("a replica that is gone", () => {
  it("killed, is replaced by the other within 5 s: what had ended stays done, what had begun is unknown", async () => {
    const client = followingClient(other.address);
    const { sessionId, workspace } = await openAt(one);
    await callTool(replicas.identity, client, shell(sessionId, "echo before", { callId: "ended" }));
    const { ended } = await begin(one, shell(sessionId, "echo begun; echo once >> ran; sleep 60", { callId: "begun" }));
    one.kill("SIGKILL");
    const killedAt = performance.now();
    await expect(ended).rejects.toThrow();
    const next = shell(sessionId, "cat ran");
    // A connection that was open when the replica was killed is lost first, and tells nothing of the call.
    const refused = () => refusal(callTool(replicas.identity, client, next));
    await expect.poll(refused, { interval: 20 }).toBe("NotFound session_not_found");
    await client.openWorkspace({ sessionId, path: workspace }, replicas.options());
    expect((await callTool(replicas.identity, client, next)).content).toBe("once\n");
    expect(performance.now() - killedAt).toBeLessThan(5_000);
    expect(await receiptAt(other, sessionId, "ended")).toBe(State.DONE);
    expect(await receiptAt(other, sessionId, "begun")).toBe(State.UNKNOWN);
    expect(await receiptAt(other, sessionId, "never")).toBe(State.NEVER_STARTED);
    expect(await refusal(other.execute(shell(sessionId, "echo begun; echo once >> ran; sleep 60", { callId: "begun" })))).toBe(
      "FailedPrecondition call_in_doubt",
    );
    expect(readFileSync(join(workspace, "ran"), "utf8")).toBe("once\n");
  });

  it("killed, takes its own sessions up at once when it is started again", async () => {
    const { sessionId, workspace } = await openAt(one);
    one.kill("SIGKILL");
    await one.exited;
    const again = await replicas.start("one");
    await again.open(sessionId, workspace);
    expect((await again.execute(shell(sessionId, "echo back"))).content).toBe("back\n");
    expect(await movedTo(other.open(sessionId, workspace))).toEqual({ address: again.address, epoch: 1n });
  });

  it("asked to end, finishes its calls, takes nothing new, and gives its sessions away at once", async () => {
    const { sessionId, workspace } = await openAt(one);
    const { ended } = await begin(one, shell(sessionId, "echo begun; sleep 1; echo end"));
    one.kill("SIGTERM");
    await expect.poll(() => refusal(one.execute(shell(sessionId, "true"))), { interval: 5 }).toBe("Unavailable sandbox_draining");
    expect(await refusal(one.open(randomUUID(), workspace))).toBe("Unavailable sandbox_draining");
    expect((await ended).content).toBe("begun\nend\n");
    await one.exited;
    await other.open(sessionId, workspace);
    expect((await other.execute(shell(sessionId, "echo here"))).content).toBe("here\n");
  });
});

describe("a replica that was stopped for longer than its lease", () => {
  it("runs nothing for the sessions that another has taken, and tells no end that was not told before", async () => {
    const { sessionId, workspace } = await openAt(one);
    const call = shell(sessionId, "echo begun; sleep 1; echo once >> ran", { callId: "frozen" });
    const { ended } = await begin(one, call);
    const told = refusal(ended);
    one.kill("SIGSTOP");
    await expect.poll(() => movedTo(other.open(sessionId, workspace)), { timeout: 10_000, interval: 100 }).toBeUndefined();
    expect(await receiptAt(other, sessionId, "frozen")).toBe(State.UNKNOWN);
    expect(await refusal(other.execute(call))).toBe("FailedPrecondition call_in_doubt");
    one.kill("SIGCONT");
    expect(await told).toBe("Unavailable sandbox_lease_lost");
    const moved = { address: other.address, epoch: 2n };
    await expect.poll(() => movedTo(one.execute(shell(sessionId, "echo twice >> ran")))).toEqual(moved);
    expect(readFileSync(join(workspace, "ran"), "utf8")).toBe("once\n");
    expect(await receiptAt(other, sessionId, "frozen")).toBe(State.UNKNOWN);
    expect((await other.execute(shell(sessionId, "cat ran"))).content).toBe("once\n");
    // It serves again: other sessions, and those that it had and nobody took.
    expect((await one.execute(shell((await openAt(one)).sessionId, "echo again"))).content).toBe("again\n");
  });
});
