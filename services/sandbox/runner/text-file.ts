import { constants } from "node:fs";
import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { failureOf } from "./failure-of.ts";
import { ToolFailure } from "./tool.ts";
import { openInside } from "./workspace-path.ts";

/** The seeds' limit for reading and for writing one file. */
export const MAXIMUM_FILE_BYTES = 2 * 1024 * 1024;
const BINARY_PROBE_BYTES = 8_192;

export interface TextFile {
  readonly text: string;
  readonly bytes: number;
  readonly stats: Stats;
}

/**
 * Reads a whole text file of the workspace.
 * @throws ToolFailure `not_found`, `outside_workspace`, `too_large`, `binary_file`, `invalid_utf8`, …
 */
export async function readTextFile(path: string): Promise<TextFile> {
  const handle = await openInside(path, constants.O_RDONLY);
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) throw new ToolFailure("invalid_arguments", `${path} is a folder. Name a file, or use list_files.`);
    if (!stats.isFile()) throw new ToolFailure("binary_file", `${path} is not a regular file.`);
    if (stats.size > MAXIMUM_FILE_BYTES) throw tooLarge(path, stats.size);
    const bytes = await readAtMost(handle, stats.size, path);
    return { text: decodeText(bytes, path), bytes: bytes.length, stats };
  } catch (thrown) {
    throw failureOf(thrown, path);
  } finally {
    await handle.close();
  }
}

/** A file may grow while it is read: one byte more than it had is asked for, and over the limit is refused. */
async function readAtMost(handle: FileHandle, size: number, path: string): Promise<Buffer> {
  let buffer = Buffer.allocUnsafe(size + 1);
  let filled = 0;
  for (;;) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, filled);
    filled += bytesRead;
    if (bytesRead === 0) return buffer.subarray(0, filled);
    if (filled > MAXIMUM_FILE_BYTES) throw tooLarge(path, filled);
    if (filled === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
  }
}

function decodeText(bytes: Buffer, path: string): string {
  if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0))
    throw new ToolFailure("binary_file", `${path} is a binary file of ${bytes.length} bytes. file_stats tells more of it.`);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new ToolFailure(
      "invalid_utf8",
      `${path} is not valid UTF-8 text. Convert it first, for example with iconv in shell_exec.`,
      cause,
    );
  }
}

function tooLarge(path: string, size: number): ToolFailure {
  return new ToolFailure(
    "too_large",
    `${path} has ${size} bytes; the limit is ${MAXIMUM_FILE_BYTES}. Find the place with shell_exec and grep -n, and read it with sed -n 'FROM,TOp'.`,
  );
}
