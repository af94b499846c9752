import { randomUUID } from "node:crypto";
import { GetReceiptResponse_State as State } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { databaseProxy } from "./testing/database-proxy.ts";
import { movedTo } from "./testing/moved-to.ts";
import { refusal } from "./testing/refusal.ts";
import { startTestReplicas, type TestReplicas } from "./testing/start-test-replicas.ts";

let replicas: TestReplicas;
let proxy: Awaited<ReturnType<typeof databaseProxy>>;

beforeEach(async () => {
  replicas = await startTestReplicas();
  proxy = await databaseProxy(replicas.placed.url);
});
afterEach(async () => {
  await replicas.close();
  proxy.close();
});

const shell = (sessionId: string, command: string, callId: string = randomUUID()) => ({
  sessionId,
  callId,
  tool: "shell_exec",
  given: { command },
});
const LOST = "Unavailable sandbox_lease_lost";

describe("a replica that cannot reach its database", { timeout: 60_000 }, () => {
  it("goes on with the sessions that it holds while its lease lasts", async () => {
    const one = await replicas.start("one", { HLVM_DATABASE_URL: proxy.url });
    const sessionId = randomUUID();
    await one.open(sessionId, replicas.newWorkspace());
    proxy.cut();
    expect((await one.execute(shell(sessionId, "echo hi"))).content).toBe("hi\n");
    expect(await refusal(one.open(randomUUID(), replicas.newWorkspace()))).toBe("Unavailable database_unreachable");
  });

  it("and is the only one goes on for longer than it could where others are", async () => {
    const one = await replicas.start("one", { HLVM_DATABASE_URL: proxy.url });
    const sessionId = randomUUID();
    await one.open(sessionId, replicas.newWorkspace());
    proxy.cut();
    expect((await one.execute(shell(sessionId, "sleep 6; echo hi"))).content).toBe("hi\n");
    expect((await one.execute(shell(sessionId, "echo more"))).content).toBe("more\n");
  });

  it("then ends what runs, serves nothing, and gives way to another until it can be sure again", async () => {
    const one = await replicas.start("one", { HLVM_DATABASE_URL: proxy.url });
    const other = await replicas.start("other");
    const [sessionId, workspace] = [randomUUID(), replicas.newWorkspace()];
    await one.open(sessionId, workspace);
    const begun = Promise.withResolvers<string>();
    const call = shell(sessionId, "echo begun; sleep 60", "cut");
    const ended = refusal(one.execute({ ...call, onOutput: begun.resolve }));
    await begun.promise;

    proxy.cut();
    expect(await ended).toBe(LOST);
    expect(await refusal(one.execute(shell(sessionId, "true")))).toBe(LOST);
    expect(await refusal(one.client.getReceipt({ sessionId, callId: "cut" }, replicas.options()))).toBe(LOST);
    await expect.poll(() => movedTo(other.open(sessionId, workspace))).toBeUndefined();
    expect((await other.client.getReceipt({ sessionId, callId: "cut" }, replicas.options())).state).toBe(State.UNKNOWN);
    expect((await other.execute(shell(sessionId, "echo here"))).content).toBe("here\n");

    proxy.restore();
    const moved = { address: other.address, epoch: 2n };
    await expect.poll(() => movedTo(one.execute(shell(sessionId, "true")))).toEqual(moved);
    const fresh = randomUUID();
    await one.open(fresh, replicas.newWorkspace());
    expect((await one.execute(shell(fresh, "echo back"))).content).toBe("back\n");
  });

  it("says why it does not start", async () => {
    await expect(replicas.start("one", { HLVM_DATABASE_URL: "postgresql://x@/x?host=/nonexistent" })).rejects.toThrow(
      "PostgreSQL cannot be reached",
    );
  });
});
