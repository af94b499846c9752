import { constants } from "node:fs";
import { open, readlink, type FileHandle } from "node:fs/promises";

/** Beyond it a file is told apart by its size and times. */
const HASHED_BYTES = 64 * 1024 * 1024;

export interface FileState {
  /** SHA-256, hexadecimal; empty where there is no file. */
  readonly sha256: string;
  readonly bytes: number;
}

export const NO_FILE: FileState = { sha256: "", bytes: 0 };

/** @param path of what stands in a folder that is held open; a link there is not followed */
export async function fileState(path: string): Promise<FileState> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return await openFileState(handle);
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT") return NO_FILE;
    if (code === "ELOOP") return { sha256: sha256(`link ${await readlink(path)}`), bytes: 0 };
    throw thrown;
  }
}

export async function openFileState(handle: FileHandle): Promise<FileState> {
  const { size, mtimeNs, ino } = await handle.stat({ bigint: true });
  const content = size > HASHED_BYTES ? `${size} ${mtimeNs} ${ino}` : await handle.readFile();
  return { sha256: sha256(content), bytes: Number(size) };
}

function sha256(content: string | Uint8Array): string {
  // Loaded with the first use, as in `replaceFile`.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(content).digest("hex");
}
