import { randomUUID } from "node:crypto";
import { appendFileSync, closeSync, mkdirSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { HlvmError } from "@hlvm/errors/hlvm-error";
import { messageOf } from "@hlvm/errors/message-of";
import type { Log } from "@hlvm/log/create-log";
import type { JournalEntry, ReceiptJournal } from "../domain/receipts.ts";

/** An orchestrator asks about calls in doubt within minutes; a week also covers a machine that was off. */
const KEPT_MILLISECONDS = 7 * 24 * 60 * 60 * 1_000;
/** Of a journal larger than this old results are dropped; that the calls ended stays known. */
const SHRUNK_OVER_BYTES = 32 * 1024 * 1024;
const KEPT_RESULTS_BYTES = 8 * 1024 * 1024;
/** Journals that stay open: those of the sessions that ran something last. */
const OPEN_FILES = 64;
const EXTENSION = ".ndjson";

/**
 * Receipts as lines of JSON, a file a session. An entry is in the file when `append` returns: it survives the process, but,
 * since nothing waits for the disk, not a power cut.
 */
export class FileJournal implements ReceiptJournal {
  readonly #directory: string;
  readonly #log: Log;
  /** By session; the one used longest ago comes first. */
  readonly #descriptors = new Map<string, number>();

  private constructor(directory: string, log: Log) {
    this.#directory = directory;
    this.#log = log;
  }

  /** Makes the folder where it is missing. */
  static open(stateDirectory: string, log: Log): FileJournal {
    const directory = join(stateDirectory, "receipts");
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return new FileJournal(directory, log);
  }

  /**
   * Removes what has grown old, and old results from what has grown large.
   * @param heldElsewhere sessions into whose journals another process writes: they are left alone
   * @returns the sessions that were removed
   */
  async prune(heldElsewhere: ReadonlySet<string>): Promise<string[]> {
    const removed: string[] = [];
    for (const name of await readdir(this.#directory)) {
      const sessionId = basename(name, EXTENSION);
      const stats = await stat(join(this.#directory, name)).catch(ignoreAbsence);
      if (stats === undefined || heldElsewhere.has(sessionId)) continue;
      if (Date.now() - stats.mtimeMs > KEPT_MILLISECONDS) {
        if (this.#removeOld(name)) removed.push(sessionId);
      } else if (stats.size > SHRUNK_OVER_BYTES && name.endsWith(EXTENSION)) await this.#shrink(name);
    }
    return removed;
  }

  release(sessionId: string): void {
    this.#close(sessionId);
  }

  async read(sessionId: string): Promise<readonly JournalEntry[] | undefined> {
    const path = this.#path(sessionId);
    const text = (await readFile(path, "utf8").catch(ignoreAbsence)) ?? "";
    const entries = linesOf(text).flatMap((line) => this.#entryOf(line, path));
    // A disk that was full may have left a file without an entry.
    return entries.length === 0 ? undefined : entries;
  }

  append(sessionId: string, entry: JournalEntry): void {
    try {
      appendFileSync(this.#descriptor(sessionId), lineOf(entry));
    } catch (cause) {
      throw new HlvmError({
        code: "unavailable",
        reason: "receipt_not_written",
        message: `The receipt of a tool call could not be written in ${this.#directory}: ${messageOf(cause)}.`,
        advice: "Free space on that disk, or make the folder writable; without receipts no tool runs.",
        cause,
      });
    }
  }

  remove(sessionId: string): void {
    this.#close(sessionId);
    rmSync(this.#path(sessionId), { force: true });
  }

  #descriptor(sessionId: string): number {
    const descriptor = this.#descriptors.get(sessionId) ?? openSync(this.#path(sessionId), "a", 0o600);
    this.#descriptors.delete(sessionId);
    this.#descriptors.set(sessionId, descriptor);
    const [oldest] = this.#descriptors.keys();
    if (this.#descriptors.size > OPEN_FILES) this.#close(oldest!);
    return descriptor;
  }

  #close(sessionId: string): void {
    const descriptor = this.#descriptors.get(sessionId);
    if (descriptor !== undefined) closeSync(descriptor);
    this.#descriptors.delete(sessionId);
  }

  /** Looks again before it removes: nothing can be appended in between. @returns whether it was old */
  #removeOld(name: string): boolean {
    const path = join(this.#directory, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || Date.now() - stats.mtimeMs <= KEPT_MILLISECONDS) return false;
    this.#close(basename(name, EXTENSION));
    rmSync(path, { force: true });
    return true;
  }

  async #shrink(name: string): Promise<void> {
    const path = join(this.#directory, name);
    const content = await readFile(path).catch(ignoreAbsence);
    if (content === undefined) return;
    const shrunk: string[] = [];
    let bytes = 0;
    for (const line of linesOf(content.toString("utf8")).toReversed()) {
      // Calls go on meanwhile, and a result may be long.
      await setImmediate();
      for (const entry of this.#entryOf(line, path)) {
        bytes += entry.kind === "ended" ? line.length : 0;
        shrunk.push(entry.kind === "ended" && bytes > KEPT_RESULTS_BYTES ? lineOf({ kind: "ended", callId: entry.callId }) : `\n${line}`);
      }
    }
    const temporary = `${path}.${randomUUID()}.tmp`;
    await writeFile(temporary, shrunk.toReversed().join(""), { mode: 0o600 });
    if (statSync(path, { throwIfNoEntry: false })?.size !== content.length) {
      // Something was appended, which the next look takes along.
      rmSync(temporary);
      return;
    }
    renameSync(temporary, path);
    this.#close(basename(name, EXTENSION));
  }

  #entryOf(line: string, path: string): JournalEntry[] {
    try {
      return [JSON.parse(line) as JournalEntry];
    } catch (cause) {
      this.#log.warn({ err: cause, path }, "a line of the receipts was cut short by the end of an earlier process");
      return [];
    }
  }

  #path(sessionId: string): string {
    return join(this.#directory, `${sessionId}${EXTENSION}`);
  }
}

/** The line feed comes first, so that a line that was cut short never joins with the next. */
function lineOf(entry: JournalEntry): string {
  return `\n${JSON.stringify(entry)}`;
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

function ignoreAbsence(thrown: NodeJS.ErrnoException): undefined {
  if (thrown.code !== "ENOENT") throw thrown;
}
