import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { resolve, sep } from "node:path";

/** Where the sandbox has the workspace; a model may use that path. */
const WORKSPACE_INSIDE = "/workspace/";
const MAXIMUM_BYTES = 2 * 1024 * 1024;

/** A file that a call would write over. */
export interface PresentFile {
  readonly bytes: number;
  /** Left out where it is no text in UTF-8, or larger than 2 MB. */
  readonly text?: string;
}

/**
 * Looks at a file of the workspace, where that is on this machine. @returns undefined where there is none that could be
 * looked at: also for a path that leads out of the workspace
 */
export function presentFile(workspace: string, path: string): PresentFile | undefined {
  try {
    const root = realpathSync(workspace);
    const real = realpathSync(resolve(root, path.startsWith(WORKSPACE_INSIDE) ? path.slice(WORKSPACE_INSIDE.length) : path));
    return real.startsWith(root + sep) ? read(real) : undefined;
  } catch {
    return undefined;
  }
}

function read(path: string): PresentFile | undefined {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return undefined;
    if (stats.size > MAXIMUM_BYTES) return { bytes: stats.size };
    const buffer = Buffer.alloc(stats.size);
    const bytes = buffer.subarray(0, readSync(file, buffer, 0, buffer.length, 0));
    return { bytes: bytes.length, text: decode(bytes) };
  } finally {
    closeSync(file);
  }
}

function decode(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
