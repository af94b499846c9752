import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, describe, expect, it } from "vitest";
import { findLimits } from "./find-limits.ts";
import { GroupPool } from "./group-pool.ts";
import type { LimitGroup } from "./sandbox-limits.ts";

const limits = findLimits("rlimit", process.getuid!());
const created: LimitGroup[] = [];
const pool = new GroupPool(
  {
    ...limits,
    createGroup: (values) => {
      const group = limits.createGroup(values);
      created.push(group);
      return group;
    },
  },
  { processes: 4, memoryBytes: 64 * 1024 * 1024 },
);
afterAll(() => pool.close());

/** A shell that begins what it is told in the group. */
function start(text: string): { readonly processId: number; readonly go: () => void; readonly exited: Promise<unknown> } {
  const child = spawn("/bin/sh", ["-c", `read go; ${text}`], { stdio: ["pipe", "ignore", "ignore"] });
  return { processId: child.pid!, go: () => void child.stdin.end("go\n"), exited: once(child, "exit") };
}

describe.skipIf(limits.perProcess)("the pool of groups (needs a cgroup)", () => {
  it("uses a group again", async () => {
    const one = pool.take();
    await one.remove();
    const count = created.length;
    await pool.take().remove();
    expect(created).toHaveLength(count);
  });

  it("ends what is left in a group before it is used again", async () => {
    const group = pool.take();
    const left = start("sleep 300");
    await group.join(left.processId);
    left.go();
    await group.remove();
    await left.exited;
    const count = created.length;
    const next = pool.take();
    expect(created).toHaveLength(count);
    await next.remove();
  });

  it("does not use a group again that has refused a process: the next command would be told of it", async () => {
    const group = pool.take();
    const crowd = start("for i in 1 2 3 4 5 6; do sleep 300 & done");
    await group.join(crowd.processId);
    crowd.go();
    await crowd.exited;
    expect(group.refusedProcesses()).toBeGreaterThan(0);
    await group.remove();
    expect(() => group.isAsNew()).toThrow(/ENOENT/);
    const next = pool.take();
    expect(next.refusedProcesses()).toBe(0);
    await next.remove();
  });

  it("does not give out a group that was removed by somebody else", async () => {
    const group = pool.take();
    await created.at(-1)!.remove();
    await group.remove();
    const next = pool.take();
    const child = start("true");
    await expect(next.join(child.processId)).resolves.toBeUndefined();
    child.go();
    await child.exited;
    await next.remove();
  });

  it("leaves nothing when it is closed, also of a group that is given back later", async () => {
    const late = pool.take();
    await pool.close();
    await late.remove();
    for (const group of created) expect(() => group.isAsNew()).toThrow(/ENOENT/);
  });
});
