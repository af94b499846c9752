import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findCgroupV1 } from "./cgroup-v1.ts";
import { startInGroup } from "./group-entry.ts";

const limits = findCgroupV1();
const VALUES = { processes: 100, memoryBytes: 100 * 1024 * 1024 };
const groupsOf = (what: string): string => readFileSync(`/proc/${what}/cgroup`, "utf8");

const probe = limits?.createGroup(VALUES);
await probe?.remove();

describe.skipIf(probe?.entry === undefined)("the entry to a group (needs cgroup v1)", () => {
  it("starts a process in the group, and leaves the thread where it was", async () => {
    const group = limits!.createGroup(VALUES);
    const before = groupsOf("thread-self");
    const inside = startInGroup(group.entry!, () => String(execFileSync("cat", ["/proc/self/cgroup"])));
    for (const controller of limits!.controllers) expect(inside).toMatch(new RegExp(`:${controller}:.*/hlvm-sandbox-`));
    expect(groupsOf("thread-self")).toBe(before);
    await group.remove();
  });

  it("starts nothing in a group that is gone, and leaves the thread where it was", async () => {
    const group = limits!.createGroup(VALUES);
    const before = groupsOf("thread-self");
    await group.remove();
    let isStarted = false;
    expect(() => startInGroup(group.entry!, () => (isStarted = true))).toThrow(/ENOENT/);
    expect(isStarted).toBe(false);
    expect(groupsOf("thread-self")).toBe(before);
  });
});
