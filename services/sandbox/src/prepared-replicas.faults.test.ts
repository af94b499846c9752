import { randomUUID } from "node:crypto";
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRepository } from "./testing/git-repository.ts";
import { movedTo } from "./testing/moved-to.ts";
import { refusal } from "./testing/refusal.ts";
import { startTestReplicas, type TestReplica, type TestReplicas } from "./testing/start-test-replicas.ts";

let replicas: TestReplicas;
let repository: string;
let one: TestReplica;

beforeEach(async () => {
  repository = createRepository({ "README.md": "# Teapot\n" });
  replicas = await startTestReplicas();
  one = await replicas.start("one", { HLVM_SANDBOX_GIT_FOLDERS: repository });
});
afterEach(async () => {
  await replicas.close();
  rmSync(repository, { recursive: true });
});

async function cloneAt(replica: TestReplica): Promise<{ sessionId: string; path: string }> {
  const sessionId = randomUUID();
  for await (const { event } of replica.client.cloneWorkspace({ sessionId, url: `file://${repository}` }, replicas.options()))
    if (event.case === "workspace") return { sessionId, path: event.value.path };
  throw new Error("there was no workspace");
}

const changesAt = (replica: TestReplica, sessionId: string) => replica.client.getChanges({ sessionId }, replicas.options());

describe("a workspace that was prepared, and the replica that has it", () => {
  it("is told where it is; when it is gone, another that shares its folders goes on", async () => {
    const other = await replicas.start("other");
    const { sessionId, path } = await cloneAt(one);
    const moved = { address: one.address, epoch: 1n };
    expect(await movedTo(other.open(sessionId, ""))).toEqual(moved);
    expect(await movedTo(other.open(sessionId, path))).toEqual(moved);
    expect(await movedTo(changesAt(other, sessionId))).toEqual(moved);
    appendFileSync(join(path, "README.md"), "It brews.\n");
    one.kill("SIGKILL");
    await expect.poll(() => movedTo(other.open(sessionId, "")), { timeout: 10_000, interval: 100 }).toBeUndefined();
    expect((await changesAt(other, sessionId)).files).toHaveLength(1);
  });

  it("is unreachable, and said to be, where another replica does not share them", async () => {
    const far = join(repository, "..", `far-${randomUUID()}`);
    mkdirSync(far);
    const other = await replicas.start("far", { HLVM_SANDBOX_STATE_DIRECTORY: far });
    const { sessionId, path } = await cloneAt(one);
    expect(await movedTo(other.open(sessionId, ""))).toEqual({ address: one.address, epoch: 1n });
    one.kill("SIGKILL");
    const open = (): Promise<string> => refusal(other.open(sessionId, ""));
    await expect.poll(open, { timeout: 10_000, interval: 100 }).toBe("FailedPrecondition workspace_unreachable");
    // Both replicas of this test are on one disk; on another machine the path leads nowhere.
    rmSync(path, { recursive: true });
    expect(await refusal(other.open(sessionId, path))).toBe("FailedPrecondition workspace_unreachable");
    expect(await refusal(changesAt(other, sessionId))).toBe("FailedPrecondition workspace_unreachable");
    rmSync(far, { recursive: true });
  });
});
