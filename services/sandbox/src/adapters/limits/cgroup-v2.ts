import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import {
  canCreateIn,
  clearGroup,
  isNearlyEmpty,
  joinGroup,
  makeGroup,
  newGroupName,
  readCounter,
  removeAbandoned,
  removeGroup,
  setWhileThere,
} from "./control-group-folder.ts";
import type { LimitGroup, LimitValues, SandboxLimits } from "./sandbox-limits.ts";

const NEEDED = ["pids", "memory"];
const MAXIMUM_WEIGHT = 10_000;
/** Beside what one process has by itself, which is 100. */
const WEIGHTS = { standby: 3, command: Math.min(100 * availableParallelism(), MAXIMUM_WEIGHT) };

/** cgroup v2 where a part of the tree is delegated to this user; undefined where none is. */
export function findCgroupV2(): SandboxLimits | undefined {
  const root = mountPoint();
  if (root === undefined) return undefined;
  const parent = delegatedFolder(root) ?? ownNamespaceRoot(root);
  if (parent === undefined) return undefined;
  removeAbandoned(parent);
  return {
    name: "cgroup v2",
    perProcess: false,
    controllers: wordsOf(join(parent, "cgroup.subtree_control")),
    createGroup: (values) => createGroup(parent, values),
  };
}

function createGroup(parent: string, values: LimitValues): LimitGroup {
  const folder = join(parent, newGroupName());
  makeGroup([folder], () => {
    writeFileSync(join(folder, "pids.max"), String(values.processes));
    writeFileSync(join(folder, "memory.max"), String(values.memoryBytes));
    const swap = join(folder, "memory.swap.max");
    if (existsSync(swap)) writeFileSync(swap, "0");
  });
  const outOfMemoryKills = (): number => readCounter(join(folder, "memory.events"), "oom_kill");
  const refusedProcesses = (): number => readCounter(join(folder, "pids.events"), "max");
  return {
    join: (processId) => joinGroup(folder, processId),
    share: (share) => setWhileThere(join(folder, "cpu.weight"), WEIGHTS[share]),
    outOfMemoryKills,
    refusedProcesses,
    clear: () => clearGroup(folder),
    isAsNew: () => outOfMemoryKills() + refusedProcesses() === 0 && isNearlyEmpty(join(folder, "memory.current")),
    remove: () => removeGroup(folder),
  };
}

/** The nearest group above this process that hands pids and memory on, and in which it may make groups. */
function delegatedFolder(root: string): string | undefined {
  for (let folder = ownFolder(root); folder.startsWith(root); folder = dirname(folder)) {
    const control = join(folder, "cgroup.subtree_control");
    if (existsSync(control) && NEEDED.every((name) => wordsOf(control).includes(name)) && canCreateIn(folder)) return folder;
    if (folder === root) return undefined;
  }
  return undefined;
}

/**
 * In a container that sees only its own part of the tree, its processes sit at the root of it, which then may not hand
 * controllers on. They are moved into a group of their own, as an init system would do.
 */
function ownNamespaceRoot(root: string): string | undefined {
  if (ownFolder(root) !== root || !NEEDED.every((name) => wordsOf(join(root, "cgroup.controllers")).includes(name))) return undefined;
  try {
    const everybody = join(root, "hlvm-services");
    mkdirSync(everybody, { recursive: true });
    for (const member of wordsOf(join(root, "cgroup.procs"))) writeFileSync(join(everybody, "cgroup.procs"), member);
    writeFileSync(join(root, "cgroup.subtree_control"), NEEDED.map((name) => `+${name}`).join(" "));
    return root;
  } catch {
    return undefined;
  }
}

function mountPoint(): string | undefined {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return lines.find((line) => line.includes(" - cgroup2 "))?.split(" ")[4];
}

function ownFolder(root: string): string {
  const own = /^0::(.*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1] ?? "/";
  return own === "/" ? root : join(root, own);
}

function wordsOf(path: string): string[] {
  return readFileSync(path, "utf8")
    .split(/\s+/)
    .filter((word) => word !== "");
}
