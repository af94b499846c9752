import { createHash } from "node:crypto";
import { closeSync, createReadStream, mkdirSync, openSync, realpathSync, statSync, writeSync } from "node:fs";
import { mkdir, readFile, readdir, rename, rm, stat, statfs, utimes, writeFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { workspaceTooLarge, type PreparedFolders, type PreparedRecord } from "../domain/prepared/prepared-folders.ts";
import type { WorkspaceFolder } from "../domain/workspace-folder.ts";
import { inspectFolder } from "./local-folders.ts";

const RECORD = "record.json";
const CONTENT = "content";
const PACK = "pack";
const DAY_MILLISECONDS = 24 * 60 * 60 * 1_000;
const UNFINISHED_DAYS = 1;
const SESSION = /^[0-9a-f-]{36}$/;

export interface PreparedFoldersOptions {
  readonly directory: string;
  /** Of one workspace: its pack, and its files. */
  readonly maximumBytes: number;
  /** A workspace that nobody has opened for so many days is removed. */
  readonly keptDays: number;
}

/** Prepared workspaces as folders of this machine, each named after its session. */
export class PreparedFoldersOnDisk implements PreparedFolders {
  readonly #options: PreparedFoldersOptions;

  constructor(options: PreparedFoldersOptions) {
    mkdirSync(options.directory, { recursive: true, mode: 0o700 });
    this.#options = { ...options, directory: realpathSync(options.directory) };
  }

  /** Whether the path is in one of them, so that no session may open it by its path but its own. */
  holds(path: string): boolean {
    return path.startsWith(this.#options.directory + sep);
  }

  async create(sessionId: string, record: PreparedRecord): Promise<void> {
    await this.#requireRoom();
    try {
      await mkdir(this.#folder(sessionId), { mode: 0o700 });
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
      throw new HlvmError({
        code: "already_exists",
        reason: "workspace_already_prepared",
        message: `There is a workspace for the session ${sessionId} already.`,
        advice: "Ask again, which chooses another session.",
        cause,
      });
    }
    await mkdir(join(this.#content(sessionId), record.name), { recursive: true });
    await this.write(sessionId, record);
  }

  async read(sessionId: string): Promise<PreparedRecord | undefined> {
    try {
      return JSON.parse(await readFile(join(this.#folder(sessionId), RECORD), "utf8")) as PreparedRecord;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw cause;
    }
  }

  async write(sessionId: string, record: PreparedRecord): Promise<void> {
    const file = join(this.#folder(sessionId), RECORD);
    await writeFile(`${file}.new`, JSON.stringify(record), { mode: 0o600, flush: true });
    await rename(`${file}.new`, file);
  }

  async workspace(sessionId: string, name: string): Promise<WorkspaceFolder> {
    const now = new Date();
    await utimes(join(this.#folder(sessionId), RECORD), now, now);
    return inspectFolder(join(this.#content(sessionId), name));
  }

  content(sessionId: string): Promise<WorkspaceFolder> {
    return inspectFolder(this.#content(sessionId));
  }

  openPack(sessionId: string): ReturnType<PreparedFolders["openPack"]> {
    const file = openSync(this.#pack(sessionId), "w", 0o600);
    let bytes = 0;
    const take = (chunk: Uint8Array): void => {
      bytes += chunk.byteLength;
      if (bytes > this.#options.maximumBytes) throw workspaceTooLarge(this.#options.maximumBytes);
      writeWhole(file, chunk);
    };
    return Promise.resolve({ take, close: () => closeSync(file) });
  }

  received(sessionId: string): number {
    return statSync(this.#pack(sessionId), { throwIfNoEntry: false })?.size ?? 0;
  }

  /** In one go: two that send the same chunk at once write it once. */
  append(sessionId: string, offset: number, data: Uint8Array): number {
    const received = this.received(sessionId);
    if (offset > received)
      throw new HlvmError({
        code: "failed_precondition",
        reason: "upload_out_of_order",
        message: `A chunk begins at byte ${offset}, and ${received} bytes are here.`,
        advice: "Begin the upload again, which tells where to go on.",
      });
    const fresh = data.subarray(received - offset);
    if (fresh.byteLength === 0) return received;
    const file = openSync(this.#pack(sessionId), "a", 0o600);
    try {
      writeWhole(file, fresh);
    } finally {
      closeSync(file);
    }
    return received + fresh.byteLength;
  }

  async packHash(sessionId: string): Promise<string> {
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(this.#pack(sessionId))) hash.update(chunk as Buffer);
    return hash.digest("hex");
  }

  async removePack(sessionId: string): Promise<void> {
    await rm(this.#pack(sessionId), { force: true });
  }

  async remove(sessionId: string): Promise<void> {
    await rm(this.#folder(sessionId), { recursive: true, force: true });
  }

  async unused(): Promise<string[]> {
    const unused: string[] = [];
    for (const sessionId of await readdir(this.#options.directory)) {
      if (!SESSION.test(sessionId)) continue;
      const record = await this.read(sessionId);
      const { mtimeMs } = await stat(join(this.#folder(sessionId), record === undefined ? "." : RECORD));
      const days = record?.ready === undefined ? UNFINISHED_DAYS : this.#options.keptDays;
      if (Date.now() - mtimeMs > days * DAY_MILLISECONDS) unused.push(sessionId);
    }
    return unused;
  }

  /** One workspace is a pack, the same again unpacked beside it, and files: a disk that holds none of them is not filled up. */
  async #requireRoom(): Promise<void> {
    const { bavail, bsize } = await statfs(this.#options.directory);
    if (bavail * bsize >= this.#options.maximumBytes) return;
    throw new HlvmError({
      code: "resource_exhausted",
      reason: "disk_nearly_full",
      message: "The disk of the sandbox service has no room for another workspace.",
      advice: "Have the operator free some, or lower HLVM_SANDBOX_WORKSPACE_MEBIBYTES.",
    });
  }

  #folder(sessionId: string): string {
    return join(this.#options.directory, sessionId);
  }

  #content(sessionId: string): string {
    return join(this.#folder(sessionId), CONTENT);
  }

  #pack(sessionId: string): string {
    return join(this.#content(sessionId), PACK);
  }
}

function writeWhole(file: number, chunk: Uint8Array): void {
  for (let done = 0; done < chunk.byteLength;) done += writeSync(file, chunk, done, chunk.byteLength - done);
}
