import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { chmod, mkdir, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { CONTENT_FOLDER, type BackupEntry, type BackupManifest } from "./manifest.ts";
import { damaged, readManifest } from "./read-manifest.ts";

export interface RestoreOptions {
  readonly folder: string;
  /** The HLVM directory, with no mesh up in it. */
  readonly directory: string;
  /** PostgreSQL's major version here. */
  readonly postgres: string;
  /** What is there is put aside; else it must be empty. */
  readonly replaces: boolean;
}

export interface Restored {
  /** When the backup was made. */
  readonly createdAt: string;
  /** Where what was there lies now; empty where nothing was. */
  readonly replaced: string;
}

/**
 * Brings the data of a mesh back. All is copied and compared with its checksums first; then names are changed. Until then nothing that
 * was there is touched.
 * @throws HlvmError `data_in_the_way`, `no_backup`, `backup_of_another_kind`, `backup_damaged`
 */
export async function restoreBackup({ folder, directory, postgres, replaces }: RestoreOptions): Promise<Restored> {
  const manifest = await readManifest(folder, postgres);
  const tops = [...new Set(Object.keys(manifest.entries).map((name) => name.split("/", 1)[0]!))];
  const inTheWay = [...new Set([...tops, "data"])].filter((name) => existsSync(join(directory, name)));
  if (inTheWay.length > 0 && !replaces) throw inWay(directory);
  const unfinished = join(directory, "restore.unfinished");
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  try {
    await copyAll(manifest, join(folder, CONTENT_FOLDER), unfinished);
  } catch (cause) {
    await rm(unfinished, { recursive: true, force: true });
    throw cause;
  }
  const replaced = inTheWay.length === 0 ? "" : join(directory, `replaced-${new Date().toISOString().replaceAll(":", "-")}`);
  if (replaced !== "") await mkdir(replaced, { mode: 0o700 });
  for (const name of inTheWay) await rename(join(directory, name), join(replaced, name));
  for (const name of tops) await rename(join(unfinished, name), join(directory, name));
  await rm(unfinished, { recursive: true });
  return { createdAt: manifest.createdAt, replaced };
}

async function copyAll({ entries }: BackupManifest, from: string, to: string): Promise<void> {
  for (const [name, entry] of Object.entries(entries)) {
    const target = join(to, name);
    if (entry.kind === "folder") await mkdir(target, { mode: 0o700 });
    else if (entry.kind === "link") await symlink(entry.target, target);
    else await copyFile(name, entry, join(from, name), target);
  }
  // Folders last, and the innermost first: one that nobody may write to takes no more files.
  for (const [name, entry] of Object.entries(entries).toReversed())
    if (entry.kind === "folder") await chmod(join(to, name), entry.mode & 0o777);
}

async function copyFile(name: string, entry: BackupEntry & { readonly kind: "file" }, from: string, to: string): Promise<void> {
  const hash = createHash("sha256");
  let bytes = 0;
  const measured = new Transform({
    transform: (chunk: Buffer, _encoding, next) => {
      hash.update(chunk);
      bytes += chunk.length;
      next(bytes > entry.bytes ? damaged(`${name} is longer than it was`) : null, chunk);
    },
  });
  const target = createWriteStream(to, { mode: entry.mode & 0o777, flags: "wx", flush: true });
  await pipeline(createReadStream(from), measured, target).catch((cause: unknown) => {
    throw (cause as NodeJS.ErrnoException).code === "ENOENT" ? damaged(`${name} is missing`, cause) : cause;
  });
  if (bytes !== entry.bytes || hash.digest("hex") !== entry.sha256) throw damaged(`${name} has other content`);
}

function inWay(directory: string): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "data_in_the_way",
    message: `${directory} has data of a mesh already.`,
    advice: "Give --replace: what is there is put aside in a folder beside it, and nothing is lost. Or set HLVM_DIR to another one.",
  });
}
