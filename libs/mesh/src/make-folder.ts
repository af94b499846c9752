import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder for its owner alone, and those above it that are missing. Node's own `recursive` never comes back from a
 * file system that lets nobody make a folder, such as /proc.
 * @throws Error of the file system
 */
export function makeFolder(path: string): void {
  if (makeOne(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/** @returns false where what it would lie in is missing */
function makeOne(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST") return true;
    if (code === "ENOENT" && dirname(path) !== path) return false;
    throw cause;
  }
}
