import { randomUUID } from "node:crypto";
import { cpSync, renameSync, rmSync } from "node:fs";
import { Code } from "@connectrpc/connect";
import { GetReceiptResponse_State as State } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { refusal } from "./testing/refusal.ts";
import { startTestReplicas, type TestReplica, type TestReplicas } from "./testing/start-test-replicas.ts";

let replicas: TestReplicas;
let gone: TestReplica;
let sessionId: string;
let workspace: string;

/** A session that was at a replica which has ended: nobody has to wait for its lease. */
beforeEach(async () => {
  replicas = await startTestReplicas();
  gone = await replicas.start("gone");
  [sessionId, workspace] = [randomUUID(), replicas.newWorkspace()];
  await gone.open(sessionId, workspace);
  await gone.execute(shell("echo hi", "before"));
  gone.kill("SIGTERM");
  await gone.exited;
});
afterEach(() => replicas.close());

const shell = (command: string, callId: string = randomUUID()) => ({ sessionId, callId, tool: "shell_exec", given: { command } });
/** A replica on another machine has a state directory of its own. */
const startElsewhere = (): Promise<TestReplica> => replicas.start("elsewhere", { HLVM_SANDBOX_STATE_DIRECTORY: replicas.newWorkspace() });

describe("a session of a replica that is gone", () => {
  it("is told to be out of reach where its folder is not there, with the folder and who had it", async () => {
    rmSync(workspace, { recursive: true });
    const other = await replicas.start("other");
    const thrown: unknown = await other.open(sessionId, workspace).catch((cause: unknown) => cause);
    expect(thrown).toMatchObject({ code: Code.FailedPrecondition });
    const { reason, message, advice } = fromConnectError(thrown);
    expect(reason).toBe("workspace_unreachable");
    expect(message).toContain(workspace);
    expect(message).toContain("replica gone");
    expect(advice).toContain("Start gone again");
  });

  it("is not opened on another machine's folder of the same path", async () => {
    const copied = `${workspace}-copy`;
    cpSync(workspace, copied, { recursive: true });
    renameSync(workspace, `${workspace}-before`);
    renameSync(copied, workspace);
    const elsewhere = await startElsewhere();
    expect(await refusal(elsewhere.open(sessionId, workspace))).toBe("FailedPrecondition workspace_unreachable");
    // On the same machine it is the session's folder, made anew.
    const other = await replicas.start("other");
    await other.open(sessionId, workspace);
    expect((await other.execute(shell("echo here"))).content).toBe("here\n");
  });

  it("keeps to its folder", async () => {
    const other = await replicas.start("other");
    const another = replicas.newWorkspace();
    expect(await refusal(other.open(sessionId, another))).toBe("FailedPrecondition workspace_already_bound");
    await other.open(sessionId, workspace);
  });

  it("has calls of which nobody knows, where its receipts are on another machine", async () => {
    const elsewhere = await startElsewhere();
    const stateOf = async (callId: string): Promise<State> =>
      (await elsewhere.client.getReceipt({ sessionId, callId }, replicas.options())).state;
    expect(await stateOf("before")).toBe(State.UNKNOWN);
    await elsewhere.open(sessionId, workspace);
    await elsewhere.execute(shell("echo new", "after"));
    expect(await stateOf("before")).toBe(State.UNKNOWN);
    expect(await stateOf("after")).toBe(State.DONE);
  });
});

describe("a name", () => {
  it("is one process's: the one that had it runs nothing when another has registered under it", async () => {
    const first = await replicas.start("same");
    const session = { sessionId: randomUUID(), path: replicas.newWorkspace() };
    await first.open(session.sessionId, session.path);
    const second = await replicas.start("same");
    await expect.poll(() => refusal(first.open(session.sessionId, session.path))).toBe("Unavailable replica_replaced");
    await second.open(session.sessionId, session.path);
    expect((await second.execute({ ...shell("echo hi"), sessionId: session.sessionId })).content).toBe("hi\n");
  });
});
