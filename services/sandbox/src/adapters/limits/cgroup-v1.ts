import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
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
import { canMoveThread, type GroupEntry } from "./group-entry.ts";
import type { LimitGroup, LimitValues, SandboxLimits } from "./sandbox-limits.ts";

/** The last keeps a sandbox full of busy processes from taking the processors from everybody else. */
const CONTROLLERS = ["pids", "memory", "cpu"] as const;
const NEEDED = ["pids", "memory"] as const;
/** Beside what one process has by itself, which is 1,024. */
const SHARES = { standby: 32, command: 1_024 * availableParallelism() };

/** cgroup v1, where each controller has a tree of its own; undefined where pids or memory cannot be limited here. */
export function findCgroupV1(): SandboxLimits | undefined {
  const folders = new Map<string, string>();
  for (const controller of CONTROLLERS) {
    const folder = folderOf(controller);
    if (folder !== undefined) folders.set(controller, folder);
  }
  if (!NEEDED.every((controller) => folders.has(controller))) return undefined;
  for (const folder of folders.values()) removeAbandoned(folder);
  const home = CONTROLLERS.filter((controller) => folders.has(controller)).map((controller) => tasksOf(ownFolderOf(controller)));
  const leave = canMoveThread(home) ? home : undefined;
  return {
    name: "cgroup v1",
    perProcess: false,
    controllers: [...folders.keys()],
    createGroup: (values) => createGroup(folders, leave, values),
  };
}

function createGroup(parents: ReadonlyMap<string, string>, leave: readonly string[] | undefined, values: LimitValues): LimitGroup {
  const name = newGroupName();
  const folders = new Map([...parents].map(([controller, parent]) => [controller, join(parent, name)]));
  const memory = folders.get("memory")!;
  const processes = folders.get("pids")!;
  makeGroup([...folders.values()], () => {
    writeFileSync(join(processes, "pids.max"), String(values.processes));
    writeFileSync(join(memory, "memory.limit_in_bytes"), String(values.memoryBytes));
    const withSwap = join(memory, "memory.memsw.limit_in_bytes");
    if (existsSync(withSwap)) writeFileSync(withSwap, String(values.memoryBytes));
  });
  const outOfMemoryKills = (): number => readCounter(join(memory, "memory.oom_control"), "oom_kill");
  const refusedProcesses = (): number => readCounter(join(processes, "pids.events"), "max");
  return {
    join: async (processId) => {
      await Promise.all([...folders.values()].map((folder) => joinGroup(folder, processId)));
    },
    ...(leave === undefined ? {} : { entry: { enter: [...folders.values()].map(tasksOf), leave } satisfies GroupEntry }),
    share: (share) => {
      const processor = folders.get("cpu");
      if (processor !== undefined) setWhileThere(join(processor, "cpu.shares"), SHARES[share]);
    },
    outOfMemoryKills,
    refusedProcesses,
    clear: () => clearGroup(processes),
    isAsNew: () => outOfMemoryKills() + refusedProcesses() === 0 && isNearlyEmpty(join(memory, "memory.usage_in_bytes")),
    remove: async () => {
      await Promise.all([...folders.values()].map(removeGroup));
    },
  };
}

/** This process's own group in the controller's tree, else the tree's root: whichever lets groups be made below it. */
function folderOf(controller: string): string | undefined {
  const root = mountPointOf(controller);
  return root === undefined ? undefined : [ownFolderOf(controller), root].find(canCreateIn);
}

function ownFolderOf(controller: string): string {
  const own = readFileSync("/proc/self/cgroup", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .find(([, controllers]) => controllers?.split(",").includes(controller));
  return join(mountPointOf(controller)!, own?.slice(2).join(":") ?? "");
}

function tasksOf(folder: string): string {
  return join(folder, "tasks");
}

function mountPointOf(controller: string): string | undefined {
  for (const line of readFileSync("/proc/self/mountinfo", "utf8").split("\n")) {
    const [mount = "", system = ""] = line.split(" - ");
    const [type, , options] = system.split(" ");
    if (type === "cgroup" && options?.split(",").includes(controller)) return mount.split(" ")[4];
  }
  return undefined;
}
