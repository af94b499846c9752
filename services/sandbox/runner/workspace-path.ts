import { constants } from "node:fs";
import { lstat, mkdir, open, readlink, realpath, type FileHandle } from "node:fs/promises";
import { basename, dirname, join, posix } from "node:path";
import { failureOf } from "./failure-of.ts";
import { isProtected } from "./protected-paths.ts";
import { ToolFailure, type Writes } from "./tool.ts";

/** Where the workspace is mounted. */
export const WORKSPACE = "/workspace";

/** The workspace's path on the machine outside: models are told it and use it. */
const OUTSIDE_PATH = process.env.HLVM_WORKSPACE_OUTSIDE;

/** A path as given, without anything said yet of what it leads to. */
export interface WorkspacePath {
  /** Relative to the workspace; empty for the workspace itself. */
  readonly relative: string;
  readonly absolute: string;
}

/**
 * Reads a path of the model's: relative to the workspace, or absolute below it.
 * @param outsidePath the workspace's path on the machine outside
 * @throws ToolFailure `outside_workspace`
 */
export function workspacePath(given: string, outsidePath = OUTSIDE_PATH): WorkspacePath {
  if (given.includes("\0")) throw new ToolFailure("invalid_arguments", "A path cannot hold a NUL character.");
  const normal = posix.normalize(given);
  const relative = normal.startsWith("/") ? belowRoot(normal, outsidePath) : normal;
  if (relative === undefined || relative === ".." || relative.startsWith("../")) throw outside(given);
  const trimmed = relative === "." ? "" : relative.replace(/^\.\//, "").replace(/\/$/, "");
  return { relative: trimmed, absolute: join(WORKSPACE, trimmed) };
}

function belowRoot(absolute: string, outsidePath: string | undefined): string | undefined {
  for (const root of [WORKSPACE, outsidePath]) {
    if (root === undefined) continue;
    if (absolute === root || absolute === `${root}/`) return ".";
    if (absolute.startsWith(`${root}/`)) return absolute.slice(root.length + 1);
  }
  return undefined;
}

/** For tools that hand a path to a program: its real path, which has to be in the workspace. */
export async function realWorkspacePath(given: string): Promise<WorkspacePath> {
  const path = workspacePath(given);
  try {
    const real = await realpath(path.absolute);
    if (!isInside(real)) throw outside(given);
    return { relative: path.relative, absolute: real };
  } catch (thrown) {
    throw failureOf(thrown, given);
  }
}

/**
 * Opens what is there. The check is made on what was opened, by its descriptor, so that nothing can be put in its place
 * between check and use.
 */
export async function openInside(given: string, flags: number): Promise<FileHandle> {
  const path = workspacePath(given);
  let handle: FileHandle;
  try {
    handle = await open(path.absolute, flags | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (thrown) {
    throw failureOf(thrown, given);
  }
  return verified(handle, given);
}

/** A folder that is held open, and a name in it: what is written there stays there, whatever becomes of the path. */
export interface HeldPlace {
  readonly folder: FileHandle;
  readonly name: string;
  /** Where it really is, relative to the workspace. */
  readonly relative: string;
  /** Reaches into the held folder without walking the path again. */
  readonly inFolder: (name: string) => string;
}

/**
 * The place where a file is to be written, its folders made where they are missing. A symbolic link at its end is
 * followed when it stays inside. Whether it may be written is asked of the folder that was opened, not of the path.
 * @throws ToolFailure `outside_workspace`, `protected_path`, …
 */
export async function holdPlace(given: string, writes: Writes): Promise<HeldPlace> {
  const path = workspacePath(given);
  if (writes.readOnly) throw new ToolFailure("protected_path", `${given} cannot be written: this call may only read.`);
  if (path.relative === "" || given.endsWith("/"))
    throw new ToolFailure("invalid_arguments", `${given} names a folder. Give the path of a file.`);
  try {
    const target = await followLink(path.absolute, given);
    const folder = await holdFolder(dirname(target), given, writes);
    const name = basename(target);
    const relative = await requireWritable(folder, name, given, writes);
    return { folder, name, relative, inFolder: (other) => `/proc/self/fd/${folder.fd}/${other}` };
  } catch (thrown) {
    throw failureOf(thrown, given);
  }
}

async function followLink(absolute: string, given: string): Promise<string> {
  const found = await lstat(absolute).catch(() => undefined);
  if (found === undefined || !found.isSymbolicLink()) return absolute;
  const real = await realpath(absolute).catch(() => undefined);
  if (real === undefined) throw new ToolFailure("outside_workspace", `${given} is a symbolic link that leads to nothing.`);
  if (!isInside(real)) throw outside(given);
  return real;
}

/** @returns the real path of a name in a held folder, relative to the workspace */
async function requireWritable(folder: FileHandle, name: string, given: string, writes: Writes): Promise<string> {
  const real = join(await readlink(`/proc/self/fd/${folder.fd}`), name).slice(WORKSPACE.length + 1);
  const isAllowed = writes.protectedPaths.some((path) => workspacePath(path).relative === real);
  if (!isProtected(real) || isAllowed) return real;
  await folder.close();
  throw new ToolFailure(
    "protected_path",
    `${given} leads to ${real}, which programs outside of the sandbox obey. Nothing was written. To have a person asked, give just that path.`,
  );
}

async function holdFolder(absolute: string, given: string, writes: Writes): Promise<FileHandle> {
  const existing = await openFolder(absolute);
  if (existing !== undefined) return verified(existing, given);
  let held = await verified(await open(WORKSPACE, constants.O_DIRECTORY), given);
  for (const name of absolute.slice(WORKSPACE.length + 1).split("/")) {
    const next = `/proc/self/fd/${held.fd}/${name}`;
    const parent = held;
    await requireFolderWritable(parent, name, given, writes);
    try {
      await mkdir(next).catch((thrown: NodeJS.ErrnoException) => {
        if (thrown.code !== "EEXIST") throw thrown;
      });
      held = await verified(await open(next, constants.O_DIRECTORY), given);
    } finally {
      await parent.close();
    }
  }
  return held;
}

/** A folder that leads to an allowed protected path may be made, too. */
async function requireFolderWritable(parent: FileHandle, name: string, given: string, writes: Writes): Promise<void> {
  const below = writes.protectedPaths.map((path) => dirname(workspacePath(path).relative));
  const real = join(await readlink(`/proc/self/fd/${parent.fd}`), name).slice(WORKSPACE.length + 1);
  if (below.some((folder) => folder === real || folder.startsWith(`${real}/`))) return;
  const existing = await lstat(`/proc/self/fd/${parent.fd}/${name}`).catch(() => undefined);
  if (existing === undefined) await requireWritable(parent, name, given, writes);
}

async function openFolder(absolute: string): Promise<FileHandle | undefined> {
  try {
    return await open(absolute, constants.O_DIRECTORY);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  }
}

async function verified(handle: FileHandle, given: string): Promise<FileHandle> {
  const real = await readlink(`/proc/self/fd/${handle.fd}`);
  if (isInside(real)) return handle;
  await handle.close();
  throw outside(given);
}

function isInside(real: string): boolean {
  return real === WORKSPACE || real.startsWith(`${WORKSPACE}/`);
}

function outside(given: string): ToolFailure {
  return new ToolFailure(
    "outside_workspace",
    `${given} is outside the workspace. Tools reach only files below it; give a path relative to it.`,
  );
}
