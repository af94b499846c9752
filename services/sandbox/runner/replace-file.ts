import { constants } from "node:fs";
import { lstat, open, rename, unlink } from "node:fs/promises";
import { failureOf } from "./failure-of.ts";
import { fileState } from "./file-state.ts";
import { MAXIMUM_FILE_BYTES } from "./text-file.ts";
import { acceptChange } from "./guard.ts";
import { ToolFailure, type ToolContext } from "./tool.ts";
import { holdPlace, type HeldPlace } from "./workspace-path.ts";

const NEW_FILE_MODE = 0o666;

/** Whether a file was there before. */
export type Replaced = "created" | "replaced";

/**
 * Writes a whole file in one step: readers see the old content or the new, never a part. An existing file keeps its permissions.
 * @throws ToolFailure `outside_workspace`, `protected_path`, `too_large`, `no_space`, …, or the reason of the signal; the file is then as it was
 */
export async function replaceFile(path: string, content: string, { signal, writes }: ToolContext): Promise<Replaced> {
  const bytes = Buffer.from(content, "utf8");
  if (bytes.length > MAXIMUM_FILE_BYTES)
    throw new ToolFailure(
      "too_large",
      `The content has ${bytes.length} bytes; the limit for one file is ${MAXIMUM_FILE_BYTES}. Write it in parts.`,
    );
  const place = await holdPlace(path, writes);
  try {
    const done = await write(place, bytes, path, signal, writes.expectedSha256);
    acceptChange(place.relative);
    return done;
  } catch (thrown) {
    throw failureOf(thrown, path);
  } finally {
    await place.folder.close();
  }
}

async function write(place: HeldPlace, bytes: Buffer, path: string, signal: AbortSignal, expected?: string): Promise<Replaced> {
  const target = place.inFolder(place.name);
  const before = await lstat(target).catch(() => undefined);
  if (before?.isDirectory()) throw new ToolFailure("invalid_arguments", `${path} is a folder. Give the path of a file.`);
  if (before !== undefined && !before.isFile() && !before.isSymbolicLink())
    throw new ToolFailure("invalid_arguments", `${path} is not a regular file.`);
  // Loaded with the first use: it would add a fifth to the time that a runner takes to start.
  const { randomBytes } = process.getBuiltinModule("node:crypto");
  const temporary = place.inFolder(`.hlvm-${randomBytes(6).toString("hex")}.tmp`);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const handle = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, NEW_FILE_MODE);
  try {
    await handle.writeFile(bytes);
    if (before?.isFile()) await handle.chmod(before.mode & 0o777);
    await handle.close();
    signal.throwIfAborted();
    if (expected !== undefined && (await fileState(target)).sha256 !== expected) throw changedSince(path);
    await rename(temporary, target);
  } catch (thrown) {
    await handle.close().catch(() => undefined);
    await unlink(temporary).catch(() => undefined);
    throw thrown;
  }
  return before === undefined ? "created" : "replaced";
}

function changedSince(path: string): ToolFailure {
  return new ToolFailure(
    "no_match",
    `${path} is not as it was when a person was shown what this call would change, so it was not written. Read it again, and make the change to what is there now.`,
  );
}
