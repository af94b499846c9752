import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const PREFIX = "hlvm-sandbox-";
const REMOVE_TRIES = 100;
const REMOVE_PAUSE_MILLISECONDS = 10;
let made = 0;

/** A name that tells which process made the group, so that a later one can tell what was left behind. */
export function newGroupName(): string {
  return `${PREFIX}${process.pid}-${++made}`;
}

/** Whether groups can be made in this folder by this process. */
export function canCreateIn(folder: string): boolean {
  const probe = join(folder, newGroupName());
  try {
    mkdirSync(probe);
    rmdirSync(probe);
    return true;
  } catch {
    return false;
  }
}

/** Removes the groups of services that are gone; what ran in them ended with them. */
export function removeAbandoned(folder: string): void {
  for (const name of readdirSync(folder)) {
    const owner = new RegExp(`^${PREFIX}(\\d+)-\\d+$`).exec(name)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    try {
      rmdirSync(join(folder, name));
    } catch {
      // It is still in use; the next start tries again.
    }
  }
}

/** Ends what runs in the group and removes it as soon as the kernel has let go of the last process. */
export async function removeGroup(folder: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    killMembers(folder);
    try {
      return await rmdir(folder);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return;
      if (attempt >= REMOVE_TRIES) throw thrown;
      await wait(REMOVE_PAUSE_MILLISECONDS);
    }
  }
}

export function joinGroup(folder: string, processId: number): void {
  writeFileSync(join(folder, "cgroup.procs"), String(processId));
}

/** The number that stands behind a word in one of the group's files; 0 where it is not there. */
export function readCounter(path: string, word: string): number {
  const line = readFileSync(path, "utf8")
    .split("\n")
    .find((candidate) => candidate.startsWith(`${word} `));
  return Number(line?.slice(word.length + 1) ?? 0);
}

function killMembers(folder: string): void {
  let members: string;
  try {
    members = readFileSync(join(folder, "cgroup.procs"), "utf8");
  } catch {
    return;
  }
  for (const member of members.split("\n").filter((line) => line !== "" && line !== "0")) {
    try {
      process.kill(Number(member), "SIGKILL");
    } catch {
      // It ended by itself.
    }
  }
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}
