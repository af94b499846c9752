import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  type BigIntStats,
} from "node:fs";
import { dirname, join } from "node:path";
import { WORKSPACE } from "./workspace-path.ts";

/** Larger files are watched, and cannot be put back. */
const KEPT_BYTES = 256 * 1024;

/** What stands at a protected path. */
export interface ProtectedEntry {
  readonly kind: "absent" | "file" | "link" | "folder" | "other";
  readonly mode: number;
  /** Of a file its bytes, of a link where it leads; left out where a file is too large to be kept. */
  readonly content?: Buffer;
  /** Differs whenever the file was touched; nobody but the kernel sets the time of change. */
  readonly stamp: string;
}

export const ABSENT: ProtectedEntry = { kind: "absent", mode: 0, stamp: "" };

/** @param known what stood there at an earlier look: its content is taken where nothing touched it since */
export function readEntry(relative: string, known: ProtectedEntry | undefined): ProtectedEntry {
  const path = join(WORKSPACE, relative);
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return ABSENT;
  const stamp = `${stats.ino} ${stats.ctimeNs} ${stats.size}`;
  const mode = Number(stats.mode & 0o777n);
  if (known?.stamp === stamp && known.mode === mode) return known;
  try {
    return { ...contentOf(path, stats), mode, stamp };
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return ABSENT;
    return { kind: "other", mode, stamp };
  }
}

function contentOf(path: string, stats: BigIntStats): Pick<ProtectedEntry, "kind" | "content"> {
  if (stats.isSymbolicLink()) return { kind: "link", content: Buffer.from(readlinkSync(path)) };
  if (stats.isDirectory()) return { kind: "folder" };
  if (!stats.isFile()) return { kind: "other" };
  return stats.size > BigInt(KEPT_BYTES) ? { kind: "file" } : { kind: "file", content: readFileSync(path) };
}

export function isSame(one: ProtectedEntry, other: ProtectedEntry): boolean {
  if (one.kind !== other.kind) return false;
  if (one.kind === "absent" || one.kind === "folder") return true;
  if (one.mode !== other.mode) return false;
  if (one.content === undefined || other.content === undefined) return one.stamp === other.stamp;
  return one.content.equals(other.content);
}

/**
 * Makes a path what an entry says.
 * @throws Error where the entry's content was not kept, or the file system refuses
 */
export function writeEntry(relative: string, entry: ProtectedEntry): void {
  const path = join(WORKSPACE, relative);
  if (entry.kind === "other" || (entry.kind === "file" && entry.content === undefined))
    throw new Error("what stood there was too large, or no plain file, and was not kept");
  const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder && entry.kind === "folder") return;
  if (entry.kind === "absent" || isFolder || entry.kind === "folder") rmSync(path, { recursive: true, force: true });
  if (entry.kind === "absent") return;
  mkdirSync(dirname(path), { recursive: true });
  if (entry.kind === "folder") {
    mkdirSync(path, { mode: entry.mode });
    return;
  }
  const temporary = `${path}.hlvm-${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  if (entry.kind === "link") symlinkSync(entry.content!, temporary);
  else {
    writeFileSync(temporary, entry.content!, { flag: "wx" });
    // Of a mode that is given at the start the process's mask takes a part.
    chmodSync(temporary, entry.mode);
  }
  renameSync(temporary, path);
}
