import { opendir, stat } from "node:fs/promises";
import { join } from "node:path";

export interface FoundFile {
  /** Absolute where the folder was. */
  readonly path: string;
  readonly device: number;
  readonly inode: number;
  readonly bytes: number;
  readonly changedAt: number;
}

/** Folders in which no tool keeps sessions. */
const SKIPPED = new Set(["node_modules", ".git"]);
const DEEPEST = 12;

/** The files of a folder that fit, in no order. Links are not followed; what may not be read, or goes meanwhile, is left out. */
export async function* findTranscripts(folder: string, fits: RegExp, within = "", depth = 0): AsyncGenerator<FoundFile> {
  const entries = await opendir(join(folder, within)).catch(() => undefined);
  if (entries === undefined) return;
  for await (const entry of entries) {
    const path = within === "" ? entry.name : `${within}/${entry.name}`;
    if (entry.isDirectory() && depth < DEEPEST && !SKIPPED.has(entry.name)) yield* findTranscripts(folder, fits, path, depth + 1);
    else if (entry.isFile() && fits.test(path)) {
      const found = await stateOf(join(folder, path));
      if (found !== undefined) yield found;
    }
  }
}

/** Of a database that is written to, its log counts: there is the newest. */
async function stateOf(path: string): Promise<FoundFile | undefined> {
  const file = await stat(path).catch(() => undefined);
  if (file === undefined) return undefined;
  const log = path.endsWith("db") ? await stat(`${path}-wal`).catch(() => undefined) : undefined;
  const changedAt = Math.trunc(Math.max(file.mtimeMs, log?.mtimeMs ?? 0));
  return { path, device: file.dev, inode: file.ino, bytes: file.size + (log?.size ?? 0), changedAt };
}
