import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder for its owner alone, and those above it that are missing; others may do so at the same time. Node's own
 * `recursive` never comes back from a file system that lets nobody make a folder, such as /proc.
 * @throws Error of the file system
 */
export function makeFolder(path: string): void {
  if (makeOne(path) === undefined) return;
  makeFolder(dirname(path));
  const missing = makeOne(path);
  if (missing !== undefined) throw missing;
}

/** @returns the error where what it would lie in is missing */
function makeOne(path: string): NodeJS.ErrnoException | undefined {
  try {
    mkdirSync(path, { mode: 0o700 });
    return undefined;
  } catch (thrown) {
    const cause = thrown as NodeJS.ErrnoException;
    if (cause.code === "EEXIST") return undefined;
    if (cause.code === "ENOENT" && dirname(path) !== path) return cause;
    throw cause;
  }
}
