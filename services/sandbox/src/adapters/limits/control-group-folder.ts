import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

const PREFIX = "hlvm-sandbox-";
const GROUP_NAME = new RegExp(`^${PREFIX}(\\d+)-([^-]+)`);
const REMOVE_TRIES = 100;
const REMOVE_PAUSE_MILLISECONDS = 10;
const FORGOTTEN_BYTES = 16 * 1024 * 1024;
/** Process ids come again, in a container at every start: this tells this process's groups from those of one before it. */
const OWN_MARK = randomBytes(6).toString("hex");
let made = 0;

/** A name that tells which process made the group, so that a later one can tell what was left behind. */
export function newGroupName(): string {
  return `${PREFIX}${process.pid}-${OWN_MARK}-${++made}`;
}

/** Makes the folders of one group and sets its limits. Where that fails, nothing of it stays. */
export function makeGroup(folders: readonly string[], setLimits: () => void): void {
  try {
    for (const folder of folders) mkdirSync(folder);
    setLimits();
  } catch (thrown) {
    for (const folder of folders) removeEmpty(folder);
    throw thrown;
  }
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
    const [, owner, mark] = GROUP_NAME.exec(name) ?? [];
    if (owner === undefined) continue;
    const isAbandoned = Number(owner) === process.pid ? mark !== OWN_MARK : !isAlive(Number(owner));
    if (isAbandoned) removeEmpty(join(folder, name));
  }
}

/** Ends what runs in the group, and resolves when the kernel has let go of it. @throws where it does not */
export async function clearGroup(folder: string): Promise<void> {
  for (let attempt = 0; killMembers(folder) > 0; attempt++) {
    if (attempt >= REMOVE_TRIES) throw new Error(`what runs in ${folder} cannot be ended`);
    await wait(REMOVE_PAUSE_MILLISECONDS);
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

export function joinGroup(folder: string, processId: number): Promise<void> {
  return writeFile(join(folder, "cgroup.procs"), String(processId));
}

/** Sets a value of the group, which may be gone by now. */
export function setWhileThere(path: string, value: number): void {
  try {
    writeFileSync(path, String(value), { flag: "r+" });
  } catch {
    // Nothing runs in it any more.
  }
}

/** The number that stands behind a word in one of the group's files; 0 where it is not there. */
export function readCounter(path: string, word: string): number {
  const line = readFileSync(path, "utf8")
    .split("\n")
    .find((candidate) => candidate.startsWith(`${word} `));
  return Number(line?.slice(word.length + 1) ?? 0);
}

/** Of memory that is in use by nobody any more, such as pages of files that were read. @param path the file that says how many bytes */
export function isNearlyEmpty(path: string): boolean {
  return Number(readFileSync(path, "utf8")) < FORGOTTEN_BYTES;
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It was never made, or is still in use; the next start tries again.
  }
}

/** @returns how many there were */
function killMembers(folder: string): number {
  let text: string;
  try {
    text = readFileSync(join(folder, "cgroup.procs"), "utf8");
  } catch {
    return 0;
  }
  const members = text.split("\n").filter((line) => !["", "0", String(process.pid)].includes(line));
  for (const member of members) {
    try {
      process.kill(Number(member), "SIGKILL");
    } catch {
      // It ended by itself.
    }
  }
  return members.length;
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}
