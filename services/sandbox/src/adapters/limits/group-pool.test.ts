import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
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

/** As the kernel has it for the group that a process is in. */
function processorShareOf(processId: number): number {
  const groups = readFileSync(`/proc/${processId}/cgroup`, "utf8");
  const [, controllers, path] = /^\d+:((?:cpu,[^:]*|[^:]*,cpu|cpu)):(.*)$/m.exec(groups) ?? /^0:(:?)(.*)$/m.exec(groups)!;
  const file = controllers === "" ? `/sys/fs/cgroup${path}/cpu.weight` : `/sys/fs/cgroup/${controllers}${path}/cpu.shares`;
  return Number(readFileSync(file, "utf8"));
}

describe.skipIf(limits.perProcess)("the pool of groups (needs a cgroup)", () => {
  it("uses a group again", async () => {
    const one = pool.take("command");
    await one.remove();
    const count = created.length;
    await pool.take("command").remove();
    expect(created).toHaveLength(count);
  });

  it("ends what is left in a group before it is used again", async () => {
    const group = pool.take("command");
    const left = start("sleep 300");
    await group.join(left.processId);
    left.go();
    await group.remove();
    await left.exited;
    const count = created.length;
    const next = pool.take("command");
    expect(created).toHaveLength(count);
    await next.remove();
  });

  it("does not use a group again that has refused a process: the next command would be told of it", async () => {
    const group = pool.take("command");
    const crowd = start("for i in 1 2 3 4 5 6; do sleep 300 & done");
    await group.join(crowd.processId);
    crowd.go();
    await crowd.exited;
    expect(group.refusedProcesses()).toBeGreaterThan(0);
    await group.remove();
    expect(() => group.isAsNew()).toThrow(/ENOENT/);
    const next = pool.take("command");
    expect(next.refusedProcesses()).toBe(0);
    await next.remove();
  });

  it("does not give out a group that was removed by somebody else", async () => {
    const group = pool.take("command");
    await created.at(-1)!.remove();
    await group.remove();
    const next = pool.take("command");
    const child = start("true");
    await expect(next.join(child.processId)).resolves.toBeUndefined();
    child.go();
    await child.exited;
    await next.remove();
  });

  it.skipIf(!limits.controllers.includes("cpu"))("leaves the processors to others while nobody wants what runs in it", async () => {
    const group = pool.take("standby");
    const standing = start("true");
    await group.join(standing.processId);
    const share = (): number => processorShareOf(standing.processId);
    const standby = share();
    group.share("command");
    const command = share();
    expect(standby).toBeLessThan(command / 10);
    standing.go();
    await standing.exited;
    await group.remove();
    const next = pool.take("standby");
    const runner = start("true");
    await next.join(runner.processId);
    expect(processorShareOf(runner.processId)).toBe(standby);
    runner.go();
    await runner.exited;
    await next.remove();
    expect(() => next.share("command")).not.toThrow();
  });

  it("leaves nothing when it is closed, also of a group that is given back later", async () => {
    const late = pool.take("command");
    await pool.close();
    await late.remove();
    for (const group of created) expect(() => group.isAsNew()).toThrow(/ENOENT/);
  });
});
