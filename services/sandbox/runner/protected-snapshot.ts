import { readdirSync, type Dirent } from "node:fs";
import { basename, join } from "node:path";
import { isProtectedName } from "./protected-paths.ts";
import { readEntry, type ProtectedEntry } from "./protected-entry.ts";
import { WORKSPACE } from "./workspace-path.ts";

/** By the path relative to the workspace. */
export type ProtectedSnapshot = Map<string, ProtectedEntry>;

/** A look takes about a microsecond an entry. */
const MAXIMUM_ENTRIES = 10_000;
/** Reading a folder takes some 13 microseconds, before each command that may write. */
const MAXIMUM_FOLDERS = 1_000;
const SUBMODULE_DEPTH = 6;
/** Of a repository only what git executes or obeys: its objects, references and index are the work itself. */
const GIT_FILES = ["config", "config.worktree", "commondir", "info/attributes", "objects/info/alternates"];
const WORKTREE_FILES = ["gitdir", "commondir", "config.worktree"];

/**
 * What stands at the protected paths in the workspace's top folder, which are those that the person's programs look for
 * when they work on it, and at those named of the folders below.
 * @param known an earlier look; what was not touched since is not read again
 * @param nested as `findNested` found them
 */
export function takeSnapshot(known: ProtectedSnapshot, nested: readonly string[]): ProtectedSnapshot {
  const snapshot: ProtectedSnapshot = new Map();
  const look = (path: string): ProtectedEntry => {
    const entry = readEntry(path, known.get(path));
    if (entry.kind !== "absent") snapshot.set(path, entry);
    return entry;
  };
  const lookBelow = (path: string): void => {
    if (snapshot.size >= MAXIMUM_ENTRIES || look(path).kind !== "folder") return;
    for (const name of namesIn(path)) lookBelow(join(path, name));
  };
  const lookAtRepository = (path: string, depth: number): void => {
    for (const name of GIT_FILES) look(join(path, name));
    lookBelow(join(path, "hooks"));
    for (const name of namesIn(join(path, "worktrees"))) for (const file of WORKTREE_FILES) look(join(path, "worktrees", name, file));
    lookForSubmodules(join(path, "modules"), depth);
  };
  const lookForSubmodules = (path: string, depth: number): void => {
    const names = depth < SUBMODULE_DEPTH ? namesIn(path) : [];
    if (names.includes("HEAD")) lookAtRepository(path, depth + 1);
    else for (const name of names) lookForSubmodules(join(path, name), depth + 1);
  };
  for (const path of [...namesIn("").filter(isProtectedName), ...nested]) {
    if (basename(path) !== ".git") lookBelow(path);
    else if (look(path).kind === "folder") lookAtRepository(path, 0);
  }
  return snapshot;
}

/** The protected paths that there are in folders below the top one, nearest first; in packages that were installed nobody works. */
export function findNested(): string[] {
  const folders = [""];
  const found: string[] = [];
  for (let at = 0; at < folders.length && at < MAXIMUM_FOLDERS; at++) {
    const folder = folders[at]!;
    for (const entry of entriesIn(folder)) {
      const path = join(folder, entry.name);
      if (isProtectedName(entry.name)) {
        if (folder !== "") found.push(path);
      } else if (entry.isDirectory() && entry.name !== "node_modules") folders.push(path);
    }
  }
  return found;
}

function entriesIn(relative: string): Dirent[] {
  try {
    return readdirSync(join(WORKSPACE, relative), { withFileTypes: true });
  } catch {
    return [];
  }
}

function namesIn(relative: string): string[] {
  try {
    return readdirSync(join(WORKSPACE, relative));
  } catch {
    return [];
  }
}
