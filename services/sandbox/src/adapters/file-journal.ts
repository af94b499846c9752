import { appendFileSync, closeSync, mkdirSync, openSync } from "node:fs";
import { readdir, readFile, rename, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
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

  /** Makes the folder where it is missing, and removes what has grown old or too large. Nothing else may use it yet. */
  static async open(stateDirectory: string, log: Log): Promise<FileJournal> {
    const directory = join(stateDirectory, "receipts");
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const journal = new FileJournal(directory, log);
    for (const name of await readdir(directory)) {
      const path = join(directory, name);
      const { mtimeMs, size } = await stat(path);
      if (Date.now() - mtimeMs > KEPT_MILLISECONDS) await unlink(path);
      else if (size > SHRUNK_OVER_BYTES) await journal.#shrink(path);
    }
    return journal;
  }

  async read(sessionId: string): Promise<readonly JournalEntry[] | undefined> {
    const path = this.#path(sessionId);
    const text = await readFile(path, "utf8").catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "ENOENT") throw thrown;
    });
    return text === undefined ? undefined : this.#entriesOf(text, path);
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

  #descriptor(sessionId: string): number {
    const descriptor = this.#descriptors.get(sessionId) ?? openSync(this.#path(sessionId), "a", 0o600);
    this.#descriptors.delete(sessionId);
    this.#descriptors.set(sessionId, descriptor);
    const [oldest] = this.#descriptors;
    if (this.#descriptors.size > OPEN_FILES) {
      closeSync(oldest![1]);
      this.#descriptors.delete(oldest![0]);
    }
    return descriptor;
  }

  async #shrink(path: string): Promise<void> {
    const entries = this.#entriesOf(await readFile(path, "utf8"), path);
    const lines: string[] = [];
    let bytes = 0;
    for (const entry of entries.toReversed()) {
      const line = lineOf(entry);
      bytes += entry.kind === "ended" ? line.length : 0;
      lines.push(entry.kind === "ended" && bytes > KEPT_RESULTS_BYTES ? lineOf({ kind: "ended", callId: entry.callId }) : line);
    }
    const temporary = `${path}.tmp`;
    await writeFile(temporary, lines.toReversed().join(""), { mode: 0o600 });
    await rename(temporary, path);
  }

  #entriesOf(text: string, path: string): JournalEntry[] {
    return text.split("\n").flatMap((line) => {
      if (line === "") return [];
      try {
        return [JSON.parse(line) as JournalEntry];
      } catch (cause) {
        this.#log.warn({ err: cause, path }, "a line of the receipts was cut short by the end of an earlier process");
        return [];
      }
    });
  }

  #path(sessionId: string): string {
    return join(this.#directory, `${sessionId}.ndjson`);
  }
}

/** The line feed comes first, so that a line that was cut short never joins with the next. */
function lineOf(entry: JournalEntry): string {
  return `\n${JSON.stringify(entry)}`;
}
