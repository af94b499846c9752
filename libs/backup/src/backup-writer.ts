import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, type Stats } from "node:fs";
import { lstat, mkdir, open, readdir, readlink, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { makeFolder } from "@hlvm/mesh/make-folder";
import { BACKUP_FORMAT, CONTENT_FOLDER, MANIFEST_FILE, thisMachine, type BackupEntry, type BackupManifest } from "./manifest.ts";

/** Which paths below what is copied are left out; of a folder all that is in it. */
type LeavesOut = (path: string, isFolder: boolean) => boolean;

/** Writes a backup into a folder of its own, which only its owner can enter: there are keys in it. */
export class BackupWriter {
  readonly #folder: string;
  readonly #entries: Record<string, BackupEntry> = {};
  readonly #createdAt = new Date().toISOString();
  #bytes = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws HlvmError `backup_folder_taken`, `backup_not_written` */
  static async create(folder: string): Promise<BackupWriter> {
    try {
      makeFolder(dirname(folder));
      await mkdir(folder, { mode: 0o700 });
      await mkdir(join(folder, CONTENT_FOLDER), { mode: 0o700 });
    } catch (cause) {
      throw (cause as NodeJS.ErrnoException).code === "EEXIST" ? taken(folder) : notWritten(folder, cause as Error);
    }
    return new BackupWriter(folder);
  }

  /**
   * Copies a file or a folder with all that is in it, while others write to it: what goes meanwhile is left out. Sockets and the like are.
   * @param name its path in the backup
   * @throws HlvmError `backup_not_written`
   */
  async copy(from: string, name: string, leavesOut: LeavesOut = () => false): Promise<void> {
    const found = await lstat(from).catch(ifGone);
    if (found === undefined) return;
    if (found.isSymbolicLink()) await this.#link(from, name);
    else if (found.isFile()) await this.#file(from, name, found);
    else if (found.isDirectory()) await this.#folderOf(from, name, found, leavesOut);
  }

  /** @throws HlvmError `backup_not_written` */
  async write(name: string, content: Buffer): Promise<void> {
    await this.#attempt(() => writeFile(this.#path(name), content, { mode: 0o600, flush: true }));
    this.#note(name, { kind: "file", mode: 0o600, bytes: content.length, sha256: createHash("sha256").update(content).digest("hex") });
  }

  /** @throws HlvmError `backup_not_written` */
  async finish(postgres: string): Promise<{ readonly createdAt: string; readonly files: number; readonly bytes: number }> {
    const entries = this.#entries;
    const createdAt = this.#createdAt;
    const manifest: BackupManifest = { format: BACKUP_FORMAT, createdAt, postgres, machine: thisMachine(), entries };
    const text = `${JSON.stringify(manifest)}\n`;
    await this.#attempt(() => writeFile(join(this.#folder, MANIFEST_FILE), text, { mode: 0o600, flush: true, flag: "wx" }));
    return { createdAt, files: Object.values(entries).filter(({ kind }) => kind === "file").length, bytes: this.#bytes };
  }

  async #folderOf(from: string, name: string, { mode }: Stats, leavesOut: LeavesOut, within = ""): Promise<void> {
    await this.#attempt(() => mkdir(this.#path(name), { mode: 0o700 }));
    this.#note(name, { kind: "folder", mode: mode & 0o777 });
    for (const entry of (await readdir(from, { withFileTypes: true }).catch(ifGone)) ?? []) {
      const path = within === "" ? entry.name : `${within}/${entry.name}`;
      if (leavesOut(path, entry.isDirectory())) continue;
      const [source, target] = [join(from, entry.name), `${name}/${entry.name}`];
      const found = await lstat(source).catch(ifGone);
      if (found?.isDirectory()) await this.#folderOf(source, target, found, leavesOut, path);
      else await this.copy(source, target);
    }
  }

  async #file(from: string, name: string, { mode }: Stats): Promise<void> {
    const source = await open(from).catch(ifGone);
    if (source === undefined) return;
    const hash = createHash("sha256");
    let bytes = 0;
    const measured = new Transform({
      transform: (chunk: Buffer, _encoding, next) => {
        hash.update(chunk);
        bytes += chunk.length;
        next(null, chunk);
      },
    });
    const target = createWriteStream(this.#path(name), { mode: 0o600, flush: true, flags: "wx" });
    await this.#attempt(() => pipeline(createReadStream("", { fd: source }), measured, target));
    this.#note(name, { kind: "file", mode: mode & 0o777, bytes, sha256: hash.digest("hex") });
    this.#bytes += bytes;
  }

  async #link(from: string, name: string): Promise<void> {
    const target = await readlink(from).catch(ifGone);
    if (target === undefined) return;
    await this.#attempt(() => symlink(target, this.#path(name)));
    this.#note(name, { kind: "link", target });
  }

  #note(name: string, entry: BackupEntry): void {
    this.#entries[name] = entry;
  }

  #path(name: string): string {
    return join(this.#folder, CONTENT_FOLDER, name);
  }

  async #attempt<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (cause) {
      throw notWritten(this.#folder, cause as Error);
    }
  }
}

function ifGone(cause: unknown): undefined {
  if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
  return undefined;
}

function taken(folder: string): HlvmError {
  return new HlvmError({
    code: "already_exists",
    reason: "backup_folder_taken",
    message: `${folder} is there already.`,
    advice: "Name a folder that does not exist yet: no backup is written over another.",
  });
}

function notWritten(folder: string, cause: Error): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "backup_not_written",
    message: `The backup cannot be written to ${folder}: ${cause.message}.`,
    advice: "What is there is no backup; remove it, make room or name another folder, and try again.",
    cause,
  });
}
